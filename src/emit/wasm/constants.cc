#include "lathe/emit/wasm/constants.h"

#include <algorithm>
#include <cstring>

#include "lathe/emit/wasm/instruction_selection.h"

namespace lathe::emit_wasm {

using wasm::Opcode;
using wasm::ValType;

namespace {

wasm::V128 repeat_64_bits(uint64_t bits) {
  const uint64_t pair[] = {bits, bits};
  wasm::V128 bytes;
  std::memcpy(bytes.data(), pair, sizeof pair);
  return bytes;
}

// The low 64 bits of the number's vector; the high 64 bits are equal.
uint64_t half_of_vector(const scalar::Number& number) {
  if (number.dtype == scalar::DType::Bool) return number.i != 0 ? ~uint64_t{0} : 0;
  if (lane_size(number.dtype) == 8) return number.bits();
  const auto lane =
      static_cast<uint32_t>(scalar::is_float(number.dtype) ? number.bits() : number.i);
  return uint64_t{lane} << 32 | lane;
}

}  // namespace

wasm::V128 vector_of(const scalar::Number& number) {
  return repeat_64_bits(half_of_vector(number));
}

bool is_zero(const loop::Expr& expr) {
  return expr.kind == loop::ExprKind::Constant && half_of_vector(expr.constant) == 0;
}

wasm::V128 steps_of_lanes(int64_t step) {
  wasm::V128 steps;
  for (uint32_t i = 0; i < 16; ++i) {
    steps[i] = static_cast<uint8_t>(i / 4 * static_cast<uint32_t>(step) >> i % 4 * 8);
  }
  return steps;
}

void push_scalar(wasm::FunctionBuilder& code, const scalar::Number& number) {
  switch (wasm_type(number.dtype).type) {
    case ValType::f32:
      code.f32_const(number.f);
      return;
    case ValType::f64:
      code.f64_const(number.d);
      return;
    case ValType::i64:
      code.i64_const(number.i);
      return;
    default:
      code.i32_const(static_cast<int32_t>(number.i));
      return;
  }
}

void VectorConstants::push(const wasm::V128& bytes) {
  if (const auto local = hoisted_.find(bytes); local != hoisted_.end()) {
    code_.op_index(Opcode::local_get, local->second);
  } else {
    code_.v128_const(bytes);
  }
}

void VectorConstants::push_computed_zero() {
  code_.v128_const(repeat_64_bits(~uint64_t{0})).op(Opcode::v128_not);
}

// Engines materialize a vector constant by three instructions wherever it occurs, even in loops,
// except all bits 0 or all 1; a local costs up to one.
void VectorConstants::hoist(const wasm::V128& bytes) {
  const auto is_cheap = [&](uint8_t each) { return each == bytes[0] && (each + 1) % 256 < 2; };
  if (std::ranges::all_of(bytes, is_cheap) || hoisted_.contains(bytes)) return;
  const uint32_t local = locals_.acquire(ValType::v128);
  code_.v128_const(bytes).op_index(Opcode::local_set, local);
  hoisted_[bytes] = local;
}

void VectorConstants::release_hoisted() {
  for (const auto& [bytes, local] : hoisted_) locals_.release(ValType::v128, local);
  hoisted_.clear();
}

}  // namespace lathe::emit_wasm
