// The engine features that a module may use. Not how any of them is used.
#pragma once

#include <string_view>

#include "lathe/base/result.h"
#include "lathe/wasm/types.h"

namespace lathe::compile {

struct Features {
#define LATHE_FEATURE(member_, name_, proposal_, default_) bool member_ = default_;
#include "lathe/compile/features.def"

  // Calls action(name, member) for every feature.
  template <class Action>
  void visit(Action&& action) {
#define LATHE_FEATURE(member_, name_, proposal_, default_) action(std::string_view(name_), member_);
#include "lathe/compile/features.def"
  }
};

// "simd,relaxedSimd": these and no others; "" is none. Error: a name that is not in the table.
Result<Features> parse_features(std::string_view text);

// The proposals a module for these features may need.
wasm::FeatureSet proposals_of(const Features& features);

}  // namespace lathe::compile
