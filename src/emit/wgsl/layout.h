// Where the buffers of a loop module are: temporaries and constants each in a region of a page, a
// GPU buffer for many of them, every state, input and output, which are ports, in a separate one.
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/emit/wgsl/limits.h"
#include "lathe/loop/loop.h"
#include "lathe/lower/plan_memory.h"

namespace lathe::emit_wgsl {

// Arguments: the numbers of workgroups of kernels that a condition on data starts.
enum class Holder : uint8_t { Scratch, Constants, Arguments, State, Input, Output };
constexpr bool is_port(Holder holder) { return holder >= Holder::State; }
const char* text(Holder holder);

// A range of bytes of a GPU buffer: `offset` is a multiple of 256, `bytes` one of 4 and not 0.
struct Region {
  Holder holder = Holder::Scratch;
  int32_t index = 0;  // of the page, of the state, or of the input or output of the entry
  uint64_t offset = 0, bytes = 4;

  bool operator==(const Region&) const = default;
};

// Bytes of an element: as in memory, but for bool, of which no two share a word.
constexpr int stored_size(loop::DType dtype) {
  return dtype == loop::DType::Bool ? 4 : scalar::size_of(dtype);
}

// Offsets are those that WebGPU binds, and pages what a binding may cover.
inline constexpr uint64_t kAlignment = 256;
constexpr uint64_t page_bytes(const Limits& limits) {
  return static_cast<uint64_t>(limits.binding_bytes) / kAlignment * kAlignment;
}
constexpr lower::Storage storage_of(const Limits& limits) {
  return {.alignment = kAlignment,
          .limit = UINT64_MAX,
          .size_of = stored_size,
          .min_elements = 1,
          .page_bytes = page_bytes(limits)};
}

// By buffer of the module, of a plan by plan_relocatable_memory with storage_of these limits.
using Layout = std::vector<Region>;
Layout layout_of(const loop::Module& module, const lower::MemoryPlan& plan, const Limits& limits);

}  // namespace lathe::emit_wgsl
