#include "lathe/emit/wasm/registers.h"

#include "lathe/emit/wasm/instruction_selection.h"

namespace lathe::emit_wasm {

using loop::DType;
using wasm::Opcode;
using wasm::ValType;

uint32_t RegisterEmitter::local_of(loop::BufferRef buffer, int64_t element) {
  auto& locals = locals_[buffer.id];
  const bool is_vector = context_.is_vector_register(buffer);
  const int lanes = is_vector ? context_.lanes : 1;
  if (locals.empty()) {
    const int64_t count = (context_.kernel.registers[buffer.id].size + lanes - 1) / lanes;
    const ValType type = is_vector ? ValType::v128 : wasm_type(context_.dtype_of(buffer)).type;
    for (int64_t i = 0; i < count; ++i) locals.push_back(code_.add_local(type));
  }
  return locals[element / lanes];
}

void RegisterEmitter::push(loop::BufferRef buffer, int64_t element) {
  code_.op_index(Opcode::local_get, local_of(buffer, element));
  if (!context_.is_vector_register(buffer)) return;
  lanes_.extract(context_.dtype_of(buffer), static_cast<uint8_t>(element % context_.lanes));
}

void RegisterEmitter::push_vector(loop::BufferRef buffer, int64_t first) {
  const auto lane = static_cast<uint8_t>(first % context_.lanes);
  code_.op_index(Opcode::local_get, local_of(buffer, first));
  if (lane == 0) return;
  code_.op_index(Opcode::local_get, local_of(buffer, first + context_.lanes));
  const auto next = [&](int i) { return static_cast<uint8_t>(lane + i); };
  if (context_.lanes == 4) {
    code_.shuffle(bytes_of_lanes({lane, next(1), next(2), next(3)}, 4));
    return;
  }
  const DType dtype = context_.dtype_of(buffer);
  const int size = dtype == DType::Bool ? 8 : lane_size(dtype);
  code_.shuffle(size == 8 ? bytes_of_lanes({1, 2}, 8) : bytes_of_lanes({1, 4, 1, 4}, 4));
}

// Two shuffles interleave 32-bit lanes of two vectors each, a third joins 64-bit halves of both.
// The first two are the same for rows 0 and 1 and for rows 2 and 3, where engines compute them
// once.
void RegisterEmitter::push_transposed_vector(loop::BufferRef buffer, int64_t first) {
  const auto lane = static_cast<uint8_t>(first % 4);
  const auto push = [&](int64_t i) {
    code_.op_index(Opcode::local_get, local_of(buffer, first + 4 * i));
  };
  const auto shuffle = [&](std::array<uint8_t, 4> lanes) {
    code_.shuffle(bytes_of_lanes(lanes, 4));
  };
  const uint8_t half = lane / 2 * 2;
  for (int64_t pair : {0, 2}) {
    push(pair);
    push(pair + 1);
    shuffle({half, static_cast<uint8_t>(half + 4), static_cast<uint8_t>(half + 1),
             static_cast<uint8_t>(half + 5)});
  }
  const uint8_t odd = lane % 2 * 2;
  shuffle({odd, static_cast<uint8_t>(odd + 1), static_cast<uint8_t>(odd + 4),
           static_cast<uint8_t>(odd + 5)});
}

}  // namespace lathe::emit_wasm
