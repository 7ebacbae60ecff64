// Checks a module by the rules of the core specification, chapter 3, and against the proposals that
// are allowed.
#pragma once

#include "base/result.h"
#include "wasm/module.h"

namespace lathe::wasm {

Status validate(const Module& module, FeatureSet allowed = FeatureSet::all());

}  // namespace lathe::wasm
