#include "lathe/emit/wgsl/layout.h"

#include <algorithm>

namespace lathe::emit_wgsl {

const char* text(Holder holder) {
  constexpr const char* kTexts[] = {"scratch", "constants", "arguments",
                                    "state",   "input",     "output"};
  return kTexts[static_cast<size_t>(holder)];
}

Layout layout_of(const loop::Module& module, const lower::MemoryPlan& plan, const Limits& limits) {
  const lower::Storage storage = storage_of(limits);
  Layout layout(module.buffers.size());
  for (size_t id = 0; id < layout.size(); ++id) {
    const loop::Buffer& buffer = module.buffers[id];
    const int64_t elements = std::max(buffer.size, storage.min_elements);
    const auto bytes = static_cast<uint64_t>(elements * stored_size(buffer.dtype));
    const bool is_constant = buffer.role == loop::BufferRole::Constant;
    layout[id] = {is_constant ? Holder::Constants : Holder::Scratch,
                  static_cast<int32_t>(plan.offsets[id] / storage.page_bytes),
                  plan.offsets[id] % storage.page_bytes, (bytes + 3) / 4 * 4};
  }
  const auto number = [&](const std::vector<loop::Port>& ports, Holder holder) {
    for (int32_t index = 0; const loop::Port& port : ports) {
      Region& region = layout[static_cast<size_t>(port.buffer)];
      region.holder = holder;
      region.index = index++;
    }
  };
  number(module.states, Holder::State);
  for (const loop::Entry& entry : module.entries) {
    number(entry.inputs, Holder::Input);
    number(entry.outputs, Holder::Output);
  }
  return layout;
}

}  // namespace lathe::emit_wgsl
