// Verifies one kernel; part of verify.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "lathe/base/result.h"
#include "lathe/base/text.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

inline constexpr int64_t kLargest = int64_t{1} << 48;  // size, extent, coefficient, offset

// The names of one list, each once.
class Names {
 public:
  explicit Names(std::string_view what) : what_(what) {}

  Status add(const std::string& name) {
    if (!seen_.insert(name).second) return fail(concat("two ", what_, " named ", name));
    return {};
  }

 private:
  std::string_view what_;
  std::unordered_set<std::string> seen_;
};

// Errors: what verify.h says of kernels. `has_f16`: as of `verify`.
Status verify_kernel(const Module& module, const Kernel& kernel, bool has_f16);

}  // namespace lathe::loop
