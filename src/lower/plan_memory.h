// Assigns every global buffer of a loop module an address in linear memory: permanently to states
// and constants, to temporaries for their lifetime within an entry; temporaries of entries overlap.
// Or, where several modules share a memory, an offset from a base that the caller chooses.
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::lower {

struct MemoryPlan {
  std::vector<uint64_t> offsets;  // bytes, by buffer id; multiples of 64. Fixed ones are after
                                  // the control block of threads
  uint64_t persistent_bytes = 0;  // states, constants, inputs, outputs
  uint64_t total_bytes = 0;

  // Where they are not: by buffer id, which base the offset counts from. 0 is scratch, 1 the
  // constants; then come the states and of each entry its inputs and outputs, with offset 0.
  std::vector<int32_t> bases = {};
  uint64_t scratch_bytes = 0, constant_bytes = 0;
};

// Both fail when the module needs more than a 32-bit memory (4 GiB).
Result<MemoryPlan> plan_memory(const loop::Module& module);
Result<MemoryPlan> plan_relocatable_memory(const loop::Module& module);

}  // namespace lathe::lower
