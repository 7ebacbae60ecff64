#include "lathe/emit/wgsl/layout.h"

#include <algorithm>

namespace lathe::emit_wgsl {

Layout separate_layout(const loop::Module& module) {
  Layout layout;
  for (const loop::Buffer& buffer : module.buffers) {
    layout.slots.push_back({static_cast<int32_t>(layout.memories.size()), 0});
    layout.memories.push_back({buffer.name, buffer.dtype, buffer.size});
  }
  return layout;
}

Layout merged_layout(const loop::Module& module) {
  Layout layout;
  auto& memories = layout.memories;
  for (const loop::Buffer& buffer : module.buffers) {
    auto memory = std::ranges::find(memories, buffer.dtype, &Memory::dtype);
    if (memory == memories.end()) {
      memory = memories.insert(memory, {std::string(scalar::text(buffer.dtype)), buffer.dtype, 0});
    }
    layout.slots.push_back({static_cast<int32_t>(memory - memories.begin()), memory->elements});
    memory->elements += buffer.size;
  }
  return layout;
}

}  // namespace lathe::emit_wgsl
