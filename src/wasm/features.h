// Which proposals a module needs from its engine.
#pragma once

#include "lathe/wasm/module.h"

namespace lathe::wasm {

FeatureSet features_of(const Module& module);

}  // namespace lathe::wasm
