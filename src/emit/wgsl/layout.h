// The layout of the buffers of a loop module in those that WebGPU binds, here called memories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::emit_wgsl {

// Memories that one shader may bind on every device.
inline constexpr size_t kMaxMemories = 8;

struct Memory {
  std::string name;
  loop::DType dtype;
  int64_t elements = 0;
};

struct MemorySlot {
  int32_t memory = 0;
  int64_t offset = 0;  // elements
};

struct Layout {
  std::vector<Memory> memories;
  std::vector<MemorySlot> slots;  // by buffer of the module
};

// Each buffer is a separate memory, with the same index.
Layout separate_layout(const loop::Module& module);

// Buffers of the same type share a memory, so that no kernel touches too many.
Layout merged_layout(const loop::Module& module);

}  // namespace lathe::emit_wgsl
