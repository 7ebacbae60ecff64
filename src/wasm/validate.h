// Checks a module by the rules of the core specification, chapter 3, and against the proposals that
// are allowed.
#pragma once

#include "lathe/base/result.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

Status validate(const Module& module, FeatureSet allowed = FeatureSet::all());

// Whether builders check what they write. In a page they do not: its engine checks the module.
#ifdef __wasm__
inline constexpr bool kBuildersCheck = false;
#else
inline constexpr bool kBuildersCheck = true;
#endif

// The same for a module whose function bodies have been typed one instruction at a time as they
// were appended.
Status validate_around_bodies(const Module& module);

}  // namespace lathe::wasm
