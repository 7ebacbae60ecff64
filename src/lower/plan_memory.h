// Gives every global buffer of a loop module its place in linear memory: states and constants for
// good, temporaries for as long as they live within their entry, entries on top of each other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "loop/loop.h"

namespace lathe::lower {

struct MemoryPlan {
  std::vector<uint64_t> offsets;  // bytes, by buffer id; multiples of 64, 192 at least: what is
                                  // before is for threads to meet in
  uint64_t persistent_bytes = 0;  // states, constants, inputs, outputs
  uint64_t total_bytes = 0;
};

// Fails when the module needs more than a 32-bit memory holds (4 GiB).
Result<MemoryPlan> plan_memory(const loop::Module& module);

}  // namespace lathe::lower
