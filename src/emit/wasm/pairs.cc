// Pairs of 16-bit integers in vectors: read from memory with few instructions, multiplied and added
// by one. What is not found here is emitted as the operations that it is spelled in.
#include "loop/pairs.h"

#include "emit/wasm/kernel.h"

namespace lathe::emit {

using loop::DType;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using wasm::Opcode;
using wasm::ValType;

namespace {

// The bytes of two vectors of elements of this size in turns.
wasm::V128 in_turns(int size) {
  wasm::V128 bytes;
  for (int i = 0; i < 16; ++i) {
    const int element = i / size;
    bytes[static_cast<size_t>(i)] =
        static_cast<uint8_t>(element % 2 * 16 + element / 2 * size + i % size);
  }
  return bytes;
}

}  // namespace

bool KernelEmitter::vector_pairs(ExprId id) {
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  if (expr.kind != ExprKind::Apply || expr.dtype != DType::I32 || lanes_ != loop::kLanes) {
    return false;
  }
  if (expr.op == loop::Op::Add) {
    const auto products = as_pair_products(kernel_, expr);
    if (!products) return false;
    emit_vector(products->x);
    emit_vector(products->y);
    code().op(Opcode::i32x4_dot_i16x8_s);
    emit_vector(products->sum);
    code().op(Opcode::i32x4_add);
    return true;
  }
  const auto pair = as_pair(kernel_, expr);
  return pair && load_pairs(*pair);
}

// The memory that the half of a pair lies in; nothing where it is anything but a plain load.
const Expr* KernelEmitter::half_in_memory(ExprId half) const {
  const Expr& cast = kernel_.exprs[static_cast<size_t>(half)];
  if (cast.kind != ExprKind::Cast) return nullptr;
  const Expr& load = kernel_.exprs[static_cast<size_t>(cast.operands[0])];
  const bool plain = load.kind == ExprKind::Load && load.guards.empty() && !load.lookup &&
                     load.buffer.space == loop::Space::Global && loop::fits_pair(load.dtype);
  return plain ? &load : nullptr;
}

bool KernelEmitter::load_pairs(const loop::Pair& pair) {
  const Expr *low = half_in_memory(pair.low), *high = half_in_memory(pair.high);
  if (low == nullptr || high == nullptr || low->dtype != high->dtype) return false;
  const int64_t step = low->address.coefficient(fixed_.lane);
  if (step != high->address.coefficient(fixed_.lane)) return false;
  const bool beside =
      low->buffer == high->buffer && low->address + loop::Affine(1) == high->address;
  if (!(step == 1 || (beside && (step == 0 || step == 2)))) return false;
  const int size = scalar::size_of(low->dtype);
  const auto load = [&](const Expr& from, Opcode of_bytes, Opcode of_words) {
    wasm::MemArg at = push_address(from.buffer, from.address);
    at.align = static_cast<uint32_t>(size);
    code().op_memory(size == 1 ? of_bytes : of_words, at);
  };
  const bool is_signed = scalar::is_signed(low->dtype);
  if (step == 2) {
    load(*low, is_signed ? Opcode::v128_load8x8_s : Opcode::v128_load8x8_u, Opcode::v128_load);
    return true;
  }
  if (step == 0) {
    load(*low, Opcode::v128_load16_splat, Opcode::v128_load32_splat);
  } else {
    load(*low, Opcode::v128_load32_zero, Opcode::v128_load64_zero);
    load(*high, Opcode::v128_load32_zero, Opcode::v128_load64_zero);
    code().shuffle(in_turns(size));
  }
  if (size == 1) {
    code().op(is_signed ? Opcode::i16x8_extend_low_i8x16_s : Opcode::i16x8_extend_low_i8x16_u);
  }
  return true;
}

}  // namespace lathe::emit
