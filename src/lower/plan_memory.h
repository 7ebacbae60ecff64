// Assigns every global buffer of a loop module an address in linear memory: permanently to states
// and constants, to temporaries for their lifetime within an entry; temporaries of entries overlap.
// Or, where several modules share a memory, an offset from a base that the caller chooses: in a
// region.
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::lower {

// How a target stores elements, and how much memory it has.
struct Storage {
  uint64_t alignment = 64;  // of buffers: a cache line
  uint64_t limit = uint64_t{1} << 32;
  int (*size_of)(loop::DType) = scalar::size_of;
  int64_t min_elements = 0;  // of a buffer
  // Temporaries and constants of relocatable memory cross no multiple of it, but for buffers that
  // are larger.
  uint64_t page_bytes = UINT64_MAX;
};

// The lowest offset from this one on, a multiple of the alignment, where so many bytes cross no
// multiple of `page_bytes`, or from which on they cross the fewest.
constexpr uint64_t place(uint64_t offset, uint64_t bytes, uint64_t page_bytes) {
  const uint64_t used = offset % page_bytes;
  return used == 0 || bytes <= page_bytes - used ? offset : offset + (page_bytes - used);
}

struct MemoryPlan {
  std::vector<uint64_t> offsets;  // bytes, by buffer id; multiples of the alignment. Fixed ones are
                                  // after the control block of threads
  uint64_t persistent_bytes = 0;  // states, constants, inputs, outputs
  uint64_t total_bytes = 0;

  // Where they are not: by buffer id, which base the offset counts from. 0 is scratch, 1 the
  // constants; then come the states and of each entry its inputs and outputs, with offset 0.
  std::vector<int32_t> bases = {};
  uint64_t constant_bytes = 0;
  uint64_t scratch_bytes = 0;                     // the maximum of those below
  std::vector<uint64_t> scratch_of_entries = {};  // by entry
};

// Both fail when the module needs more than the limit, by default a 32-bit memory (4 GiB).
Result<MemoryPlan> plan_memory(const loop::Module& module);
Result<MemoryPlan> plan_relocatable_memory(const loop::Module& module, const Storage& storage = {});

}  // namespace lathe::lower
