#include "lathe/emit/wasm/pairs.h"

#include "lathe/emit/wasm/expressions.h"

namespace lathe::emit_wasm {

using loop::DType;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::VarId;
using wasm::Opcode;
using wasm::ValType;

namespace {

// The bytes of two vectors of elements of this size in turns, from element `first` on.
wasm::V128 interleaved(int size, int first = 0) {
  wasm::V128 bytes;
  for (int i = 0; i < 16; ++i) {
    const int element = i / size;
    bytes[i] = static_cast<uint8_t>(element % 2 * 16 + (first + element / 2) * size + i % size);
  }
  return bytes;
}

}  // namespace

bool PairEmitter::emit(ExprId id) {
  const Expr& expr = context_.expr(id);
  if (expr.kind != ExprKind::Apply || expr.dtype != DType::I32 || context_.lanes != kVectorLanes) {
    return false;
  }
  if (expr.op == loop::Op::Add) {
    const auto products = as_pair_products(context_.kernel, expr);
    if (!products) return false;
    expressions_.emit_vector(products->x);
    expressions_.emit_vector(products->y);
    code_.op(Opcode::i32x4_dot_i16x8_s);
    expressions_.emit_vector(products->sum);
    code_.op(Opcode::i32x4_add);
    return true;
  }
  if (expr.op == loop::Op::BitAnd) return bits_of_pairs(expr) || load_shifted_pairs(expr);
  const auto pair = as_pair(context_.kernel, expr);
  return pair && load_pairs(*pair);
}

// bit_and(shift_right(x, count), mask) where one instruction does both: nothing is shifted, or the
// mask has all remaining bits of each 16-bit half.
bool PairEmitter::bits_of_pairs(const Expr& expr) {
  const Expr& shifted = context_.operand(expr, 0);
  const Expr& mask = context_.operand(expr, 1);
  if (shifted.kind != ExprKind::Apply || shifted.op != loop::Op::ShiftRight) return false;
  const Expr& count = context_.operand(shifted, 1);
  if (mask.kind != ExprKind::Constant || count.kind != ExprKind::Index) return false;
  const SplitAddress at = addresses_.split(count.address, 1);
  const auto bits = static_cast<int32_t>(at.constant);
  if (!at.induction.empty() || at.lane_coefficient != 0 || bits < 0 || bits >= 16) return false;
  if (bits > 0 && mask.constant.i != (0xffff >> bits) * 0x10001) return false;
  expressions_.emit_vector(shifted.operands[0]);
  if (bits > 0) {
    code_.i32_const(bits).op(Opcode::i16x8_shr_u);
  } else {
    expressions_.emit_vector(expr.operands[1]);
    code_.op(Opcode::v128_and);
  }
  return true;
}

// The load of a 16-bit operand; null where it is not a plain load from memory.
const Expr* PairEmitter::memory_operand(ExprId half) const {
  const Expr& cast = context_.expr(half);
  if (cast.kind != ExprKind::Cast) return nullptr;
  const Expr& load = context_.operand(cast, 0);
  const bool plain = load.kind == ExprKind::Load && load.guards.empty() && !load.lookup &&
                     load.buffer.space == loop::Space::Global && scalar::size_of(load.dtype) < 4;
  return plain ? &load : nullptr;
}

void PairEmitter::drop() {
  if (!next_) return;
  locals_.release(ValType::v128, next_->low);
  locals_.release(ValType::v128, next_->high);
  next_.reset();
}

// The variable of an unrolled loop whose next copy reads these addresses plus `step` elements.
std::optional<VarId> PairEmitter::var_of_next(const Expr* low, const Expr& high,
                                              int64_t step) const {
  if (is_conditional_) return std::nullopt;
  for (const auto& [var, value] : addresses_.unrolled()) {
    const bool steps = (low == nullptr || low->address.coefficient(var) == step) &&
                       high.address.coefficient(var) == step;
    const bool has_next = value + 1 < context_.extent(var);
    if (steps && has_next && value % 2 == 0) return var;
  }
  return std::nullopt;
}

void PairEmitter::load_pair_vector(const Expr& from, Opcode of_bytes, Opcode of_words) {
  const int size = scalar::size_of(from.dtype);
  wasm::MemArg at = addresses_.push_address(from.buffer, from.address);
  at.align = static_cast<uint32_t>(size);
  code_.op_memory(size == 1 ? of_bytes : of_words, at);
}

// Whether an earlier copy of the loop has loaded for this one; vectors loaded for others are
// dropped.
bool PairEmitter::has_next(const Expr* low, const Expr& high) {
  const bool is_next =
      next_ && next_->of == std::pair(low, &high) && next_->at == addresses_.unrolled();
  if (!is_next) drop();
  return is_next;
}

void PairEmitter::save_next(const Expr* low, const Expr& high, VarId var) {
  next_ = {{low, &high},
           addresses_.unrolled(),
           locals_.acquire(ValType::v128),
           locals_.acquire(ValType::v128)};
  ++next_->at[var];
}

void PairEmitter::next_interleaved(int first) {
  code_.op_index(Opcode::local_get, next_->low);
  code_.op_index(Opcode::local_get, next_->high);
  code_.shuffle(interleaved(2, first));
}

// 16-bit integers from two addresses, or interleaved with zeros: two vectors at once where the next
// copy of an unrolled loop uses the second one.
void PairEmitter::load_interleaved_pairs(const Expr* low, const Expr& high) {
  if (has_next(low, high)) {
    next_interleaved(kVectorLanes);
    return drop();
  }
  const int size = scalar::size_of(high.dtype);
  const bool is_signed = scalar::is_signed(high.dtype);
  const auto load = [&](const Expr* from, Opcode of_bytes, Opcode of_words) {
    if (from == nullptr) return constants_.push(loop::Number::of(int32_t{0}));
    load_pair_vector(*from, of_bytes, of_words);
  };
  const auto next = var_of_next(low, high, kVectorLanes);
  if (!next) {
    load(low, Opcode::v128_load32_zero, Opcode::v128_load64_zero);
    load(&high, Opcode::v128_load32_zero, Opcode::v128_load64_zero);
    code_.shuffle(interleaved(size));
    if (size > 1) return;
    code_.op(is_signed ? Opcode::i16x8_extend_low_i8x16_s : Opcode::i16x8_extend_low_i8x16_u);
    return;
  }
  save_next(low, high, *next);
  const Opcode eight = is_signed ? Opcode::v128_load8x8_s : Opcode::v128_load8x8_u;
  load(low, eight, Opcode::v128_load);
  code_.op_index(Opcode::local_set, next_->low);
  load(&high, eight, Opcode::v128_load);
  code_.op_index(Opcode::local_set, next_->high);
  next_interleaved(0);
}

bool PairEmitter::load_pairs(const loop::Pair& pair) {
  const Expr *low = memory_operand(pair.low), *high = memory_operand(pair.high);
  if (low == nullptr || high == nullptr || low->dtype != high->dtype) return false;
  if (!loop::fits_pair(low->dtype)) return false;
  const int64_t step = low->address.coefficient(addresses_.lane());
  if (step != high->address.coefficient(addresses_.lane())) return false;
  const bool are_adjacent =
      low->buffer == high->buffer && low->address + loop::Affine(1) == high->address;
  if (step == 1) {
    load_interleaved_pairs(low, *high);
    return true;
  }
  if (!are_adjacent || (step != 0 && step != 2)) return false;
  const bool bytes = scalar::size_of(low->dtype) == 1, is_signed = scalar::is_signed(low->dtype);
  wasm::MemArg at = addresses_.push_address(low->buffer, low->address);
  at.align = static_cast<uint32_t>(scalar::size_of(low->dtype));
  if (step == 2) {
    const Opcode eight = is_signed ? Opcode::v128_load8x8_s : Opcode::v128_load8x8_u;
    code_.op_memory(bytes ? eight : Opcode::v128_load, at);
    return true;
  }
  code_.op_memory(bytes ? Opcode::v128_load16_splat : Opcode::v128_load32_splat, at);
  if (!bytes) return true;
  code_.op(is_signed ? Opcode::i16x8_extend_low_i8x16_s : Opcode::i16x8_extend_low_i8x16_u);
  return true;
}

// shift_left(x, 16) of 16-bit integers in memory, which are interleaved with zeros directly.
bool PairEmitter::load_high_words(const Expr& expr) {
  if (expr.op != loop::Op::ShiftLeft || expr.dtype != DType::I32 ||
      context_.lanes != kVectorLanes) {
    return false;
  }
  const Expr& count = context_.operand(expr, 1);
  const Expr* half = memory_operand(expr.operands[0]);
  if (count.kind != ExprKind::Constant || count.constant.i != 16 || half == nullptr) return false;
  if (scalar::size_of(half->dtype) != 2 || half->address.coefficient(addresses_.lane()) != 1) {
    return false;
  }
  load_interleaved_pairs(nullptr, *half);
  return true;
}

// bit_and(shift_left(x, count), mask) of signed 16-bit integers in memory, where the mask has none
// of the bits that are shifted in: the lower halfwords in one copy of an unrolled loop, the upper
// ones in the next.
bool PairEmitter::load_shifted_pairs(const Expr& expr) {
  const auto operand = [this](const Expr& of, size_t i) -> const Expr& {
    return context_.operand(of, i);
  };
  const auto applies = [](const Expr& each, loop::Op op) {
    return each.kind == ExprKind::Apply && each.op == op && each.dtype == DType::I32;
  };
  if (context_.lanes != kVectorLanes || !applies(expr, loop::Op::BitAnd)) return false;
  const Expr &shifted = context_.operand(expr, 0), &mask = operand(expr, 1);
  if (mask.kind != ExprKind::Constant || !applies(shifted, loop::Op::ShiftLeft)) return false;
  const Expr& count = operand(shifted, 1);
  const Expr* half = memory_operand(shifted.operands[0]);
  if (count.kind != ExprKind::Constant || half == nullptr || half->dtype != DType::I16 ||
      half->address.coefficient(addresses_.lane()) != 2) {
    return false;
  }
  const auto bits = static_cast<int32_t>(count.constant.i);
  if (bits <= 0 || bits >= 15 || mask.constant.i % (1 << bits) != 0) return false;
  if (has_next(&expr, *half)) {
    code_.op_index(Opcode::local_get, next_->low);
    drop();
  } else {
    const auto next = var_of_next(nullptr, *half, 1);
    if (!next) return false;
    save_next(&expr, *half, *next);
    load_pair_vector(*half, Opcode::v128_load8x8_s, Opcode::v128_load);
    code_.op_index(Opcode::local_tee, next_->low);
    code_.i32_const(16).op(Opcode::i32x4_shl);
  }
  code_.i32_const(16 - bits).op(Opcode::i32x4_shr_s);
  expressions_.emit_vector(expr.operands[1]);
  code_.op(Opcode::v128_and);
  return true;
}

}  // namespace lathe::emit_wasm
