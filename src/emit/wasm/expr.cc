// Expressions of the loop IR as instructions on one number or on four lanes. A Bool is 0 or 1 as a
// number and a mask of ones as a lane.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "emit/wasm/kernel.h"
#include "emit/wasm/spelling.h"

namespace lathe::emit {

using loop::DType;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::kLanes;
using loop::Op;
using wasm::Opcode;
using wasm::ValType;

namespace {

wasm::V128 four(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const uint32_t lanes[] = {a, b, c, d};
  wasm::V128 bytes;
  std::memcpy(bytes.data(), lanes, sizeof lanes);
  return bytes;
}

wasm::V128 four(uint32_t bits) { return four(bits, bits, bits, bits); }

wasm::V128 bytes_of_lanes(std::array<uint8_t, kLanes> lanes) {
  wasm::V128 bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(4 * lanes[i / 4] + i % 4);
  }
  return bytes;
}

}  // namespace

uint32_t lane_bits(const loop::Number& number) {
  switch (number.dtype) {
    case DType::Bool:
      return number.i != 0 ? ~0u : 0u;
    case DType::I32:
      return static_cast<uint32_t>(number.i);
    case DType::F32:
      return std::bit_cast<uint32_t>(number.f);
  }
  return 0;
}

DType KernelEmitter::dtype_of(loop::BufferRef buffer) const {
  const auto id = static_cast<size_t>(buffer.id);
  return buffer.space == loop::Space::Global ? module_.buffers[id].dtype
                                             : kernel_.registers[id].dtype;
}

bool KernelEmitter::is_vector_register(loop::BufferRef buffer) const {
  return vector_registers_[static_cast<size_t>(buffer.id)];
}

std::vector<uint32_t>& KernelEmitter::register_locals(loop::BufferRef buffer) {
  auto& locals = scope_.registers[buffer.id];
  if (locals.empty()) {
    const int64_t size = kernel_.registers[static_cast<size_t>(buffer.id)].size;
    const bool vector = is_vector_register(buffer);
    const int64_t count = vector ? (size + kLanes - 1) / kLanes : size;
    for (int64_t i = 0; i < count; ++i) {
      locals.push_back(code().add_local(vector ? ValType::v128 : scalar_type(dtype_of(buffer))));
    }
  }
  return locals;
}

bool KernelEmitter::varies(ExprId id) {
  auto& known = varies_[static_cast<size_t>(id)];
  if (known) return *known;
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  bool result = expr.address.coefficient(fixed_.lane) != 0;
  for (const loop::Guard& guard : expr.guards) {
    result = result || guard.index.coefficient(fixed_.lane) != 0;
  }
  for (int i = 0; i < expr.operand_count(); ++i) {
    result = result || varies(expr.operands[static_cast<size_t>(i)]);
  }
  return *(known = result);
}

bool KernelEmitter::recall(ExprId id, bool vector) {
  const auto found = kept_.find({id, vector});
  if (found == kept_.end()) return false;
  code().op_index(Opcode::local_get, found->second.second);
  return true;
}

// A value that the statement uses again stays in a local.
void KernelEmitter::keep(ExprId id, bool vector, ValType type) {
  if (uses_[static_cast<size_t>(id)] < 2) return;
  const uint32_t local = acquire(type);
  kept_[{id, vector}] = {type, local};
  code().op_index(Opcode::local_tee, local);
}

void KernelEmitter::emit_scalar(ExprId id) {
  if (recall(id, false)) return;
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  switch (expr.kind) {
    case ExprKind::Constant:
      return scalar_constant(expr.constant);
    case ExprKind::Index:
      push_index(expr.address);
      break;
    case ExprKind::Load:
      scalar_load(expr);
      break;
    case ExprKind::Apply:
      scalar_apply(expr);
      break;
    case ExprKind::Cast:
      scalar_cast(expr);
      break;
  }
  keep(id, false, scalar_type(expr.dtype));
}

void KernelEmitter::emit_vector(ExprId id) {
  if (recall(id, true)) return;
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  if (expr.kind == ExprKind::Constant) return vector_constant(expr.constant);
  if (!varies(id)) {
    if (const auto hoisted = scope_.splats.find(id); hoisted != scope_.splats.end()) {
      code().op_index(Opcode::local_get, hoisted->second);
      return;
    }
    splat(id);
  } else {
    switch (expr.kind) {
      case ExprKind::Constant:
        break;
      case ExprKind::Index:
        vector_index(expr);
        break;
      case ExprKind::Load:
        vector_load(expr);
        break;
      case ExprKind::Apply:
        vector_apply(expr);
        break;
      case ExprKind::Cast:
        vector_cast(expr);
        break;
    }
  }
  keep(id, true, ValType::v128);
}

void KernelEmitter::scalar_constant(const loop::Number& number) {
  if (number.dtype == DType::F32) {
    code().f32_const(number.f);
  } else {
    code().i32_const(number.i);
  }
}

void KernelEmitter::vector_constant(const loop::Number& number) {
  const uint32_t bits = lane_bits(number);
  if (const auto local = scope_.constants.find(bits); local != scope_.constants.end()) {
    code().op_index(Opcode::local_get, local->second);
  } else {
    code().v128_const(four(bits));
  }
}

bool KernelEmitter::is_zero(ExprId id) const {
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  return expr.kind == ExprKind::Constant && lane_bits(expr.constant) == 0;
}

// Registers start as a zero that is no constant to engines: SpiderMonkey would keep that constant
// in a register of its own, through the loops that follow, for the zeros behind them.
void KernelEmitter::computed_zero() { code().v128_const(four(~0u)).op(Opcode::v128_not); }

void KernelEmitter::scalar_load(const Expr& expr) {
  const auto lookup = look_up(expr.buffer, expr.lookup, expr.operands[0]);
  scalar_load(expr, lookup);
  release(ValType::i32, lookup);
}

void KernelEmitter::scalar_load(const Expr& expr, std::optional<uint32_t> lookup) {
  const std::optional<bool> known = push_guards(expr.guards);
  if (known == false) return scalar_constant(loop::Number::from(expr.dtype, 0));
  if (known) return scalar_load_unguarded(expr, lookup);
  code().if_(scalar_type(expr.dtype));
  scalar_load_unguarded(expr, lookup);
  code().else_();
  scalar_constant(loop::Number::from(expr.dtype, 0));
  code().end();
}

void KernelEmitter::scalar_load_unguarded(const Expr& expr, std::optional<uint32_t> lookup) {
  if (expr.buffer.space == loop::Space::Global) {
    const wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
    code().op_memory(expr.dtype == DType::F32    ? Opcode::f32_load
                     : expr.dtype == DType::Bool ? Opcode::i32_load8_u
                                                 : Opcode::i32_load,
                     at);
    return;
  }
  const Place at = place(expr.address, 1);
  auto& locals = register_locals(expr.buffer);
  if (!is_vector_register(expr.buffer)) {
    code().op_index(Opcode::local_get, locals[static_cast<size_t>(at.constant)]);
    return;
  }
  code().op_index(Opcode::local_get, locals[static_cast<size_t>(at.constant / kLanes)]);
  const auto lane = static_cast<uint8_t>(at.constant % kLanes);
  if (expr.dtype == DType::F32) {
    code().op_lane(Opcode::f32x4_extract_lane, lane);
  } else {
    code().op_lane(Opcode::i32x4_extract_lane, lane);
    if (expr.dtype == DType::Bool) code().i32_const(1).op(Opcode::i32_and);
  }
}

void KernelEmitter::vector_load(const Expr& expr) {
  const int64_t step = expr.address.coefficient(fixed_.lane);
  if (expr.buffer.space == loop::Space::Register && expr.guards.empty()) {
    const Place at = place(expr.address, 1);
    if (step == kLanes) return vector_across(expr.buffer, at.constant);
    CHECK(step == 1);
    return vector_beside(expr.buffer, at.constant);
  }
  const bool by_lane = std::ranges::any_of(expr.guards, [this](const loop::Guard& guard) {
    return guard.index.coefficient(fixed_.lane) != 0;
  });
  const bool global = expr.buffer.space == loop::Space::Global;
  const bool scattered = expr.lookup && varies(expr.operands[0]);
  if (step != 1 || by_lane || !global || scattered) return vector_load_by_lane(expr);
  const auto lookup = look_up(expr.buffer, expr.lookup, expr.operands[0]);
  const std::optional<bool> known = push_guards(expr.guards);
  if (known == false) {
    vector_constant(loop::Number::from(expr.dtype, 0));
  } else if (known) {
    vector_load_unguarded(expr, lookup);
  } else {
    code().if_(ValType::v128);
    vector_load_unguarded(expr, lookup);
    code().else_();
    vector_constant(loop::Number::from(expr.dtype, 0));
    code().end();
  }
  release(ValType::i32, lookup);
}

void KernelEmitter::vector_load_unguarded(const Expr& expr, std::optional<uint32_t> lookup) {
  wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
  if (expr.dtype != DType::Bool) {
    at.align = 4;
    code().op_memory(Opcode::v128_load, at);
    return;
  }
  at.align = 1;
  code().op_memory(Opcode::v128_load32_zero, at);
  code().op(Opcode::i16x8_extend_low_i8x16_u).op(Opcode::i32x4_extend_low_i16x8_u);
  code().op(Opcode::i32x4_neg);
}

// One lane of each of four vectors, as two shuffles of 32-bit pairs and one of their halves:
// engines share the first two among the reads of a square.
void KernelEmitter::vector_across(loop::BufferRef buffer, int64_t first) {
  const auto& locals = register_locals(buffer);
  const auto lane = static_cast<uint8_t>(first % kLanes);
  const auto local = [&](int64_t i) { return locals[static_cast<size_t>(first / kLanes + i)]; };
  const auto shuffle = [&](std::array<uint8_t, kLanes> lanes) {
    code().shuffle(bytes_of_lanes(lanes));
  };
  const uint8_t half = lane / 2 * 2;
  for (int64_t pair : {0, 2}) {
    code().op_index(Opcode::local_get, local(pair)).op_index(Opcode::local_get, local(pair + 1));
    shuffle({half, static_cast<uint8_t>(half + 4), static_cast<uint8_t>(half + 1),
             static_cast<uint8_t>(half + 5)});
  }
  const uint8_t odd = lane % 2 * 2;
  shuffle({odd, static_cast<uint8_t>(odd + 1), static_cast<uint8_t>(odd + 4),
           static_cast<uint8_t>(odd + 5)});
}

// A vector, or the end of one and the beginning of the next.
void KernelEmitter::vector_beside(loop::BufferRef buffer, int64_t first) {
  const auto& locals = register_locals(buffer);
  const auto vector = static_cast<size_t>(first / kLanes);
  const auto lane = static_cast<uint8_t>(first % kLanes);
  code().op_index(Opcode::local_get, locals[vector]);
  if (lane == 0) return;
  code().op_index(Opcode::local_get, locals[vector + 1]);
  const auto next = [&](int i) { return static_cast<uint8_t>(lane + i); };
  code().shuffle(bytes_of_lanes({lane, next(1), next(2), next(3)}));
}

void KernelEmitter::vector_load_by_lane(const Expr& expr) {
  const bool global = expr.buffer.space == loop::Space::Global;
  if (global && expr.guards.empty() && expr.dtype != DType::Bool) return gather(expr);
  const bool is_float = expr.dtype == DType::F32;
  const auto indices = lane_indices(expr.lookup, expr.operands[0]);
  const loop::VarId lane = fixed_.lane;
  for (uint8_t i = 0; i < kLanes; ++i) {
    fixed_.lane = -1;
    fixed_.values[lane] = i;
    const auto lookup = look_up_lane(expr.buffer, expr.lookup, expr.operands[0], indices, i);
    scalar_load(expr, lookup);
    release(ValType::i32, lookup);
    if (i == 0) {
      code().op(is_float ? Opcode::f32x4_splat : Opcode::i32x4_splat);
    } else {
      code().op_lane(is_float ? Opcode::f32x4_replace_lane : Opcode::i32x4_replace_lane, i);
    }
  }
  release(ValType::v128, indices);
  fixed_.values.erase(lane);
  fixed_.lane = lane;
  if (expr.dtype == DType::Bool) code().op(Opcode::i32x4_neg);
}

// Lanes from four places, straight into the vector.
void KernelEmitter::gather(const Expr& expr) {
  const auto indices = lane_indices(expr.lookup, expr.operands[0]);
  const loop::VarId lane = std::exchange(fixed_.lane, -1);
  const uint32_t gathered = acquire(ValType::v128);
  for (uint8_t i = 0; i < kLanes; ++i) {
    fixed_.values[lane] = i;
    const auto lookup = look_up_lane(expr.buffer, expr.lookup, expr.operands[0], indices, i);
    wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
    release(ValType::i32, lookup);
    at.align = 2;
    if (i == 0) {
      code().op_memory(Opcode::v128_load32_zero, at);
    } else {
      code().op_index(Opcode::local_get, gathered);
      code().op_memory_lane(Opcode::v128_load32_lane, at, i);
    }
    if (i + 1 < kLanes) code().op_index(Opcode::local_set, gathered);
  }
  fixed_.values.erase(lane);
  fixed_.lane = lane;
  release(ValType::v128, gathered);
  release(ValType::v128, indices);
}

void KernelEmitter::splat(ExprId id) {
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  const bool plain_load = expr.kind == ExprKind::Load && expr.guards.empty() &&
                          expr.buffer.space == loop::Space::Global && expr.dtype != DType::Bool;
  if (plain_load) {
    const auto lookup = look_up(expr.buffer, expr.lookup, expr.operands[0]);
    const wasm::MemArg at = push_address(expr.buffer, expr.address, lookup);
    code().op_memory(Opcode::v128_load32_splat, at);
    return release(ValType::i32, lookup);
  }
  emit_scalar(id);
  code().op(expr.dtype == DType::F32 ? Opcode::f32x4_splat : Opcode::i32x4_splat);
  if (expr.dtype == DType::Bool) code().op(Opcode::i32x4_neg);
}

void KernelEmitter::vector_index(const Expr& expr) {
  const auto step = static_cast<uint32_t>(expr.address.coefficient(fixed_.lane));
  push_index(expr.address);
  code().op(Opcode::i32x4_splat);
  code().v128_const(four(0, step, 2 * step, 3 * step)).op(Opcode::i32x4_add);
}

void KernelEmitter::scalar_cast(const Expr& expr) {
  const DType from = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
  emit_scalar(expr.operands[0]);
  if (from == expr.dtype) return;
  switch (expr.dtype) {
    case DType::F32:
      code().op(Opcode::f32_convert_i32_s);
      return;
    case DType::I32:
      if (from == DType::F32) code().op(Opcode::i32_trunc_sat_f32_s);
      return;
    case DType::Bool:
      scalar_constant(loop::Number::from(from, 0));
      code().op(from == DType::F32 ? Opcode::f32_ne : Opcode::i32_ne);
      return;
  }
}

void KernelEmitter::vector_cast(const Expr& expr) {
  const DType from = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
  emit_vector(expr.operands[0]);
  if (from == expr.dtype) return;
  if (from == DType::Bool) {
    vector_constant(loop::Number::from(expr.dtype, 1));
    code().op(Opcode::v128_and);
    return;
  }
  switch (expr.dtype) {
    case DType::F32:
      code().op(Opcode::f32x4_convert_i32x4_s);
      return;
    case DType::I32:
      code().op(Opcode::i32x4_trunc_sat_f32x4_s);
      return;
    case DType::Bool:
      vector_constant(loop::Number::from(from, 0));
      code().op(from == DType::F32 ? Opcode::f32x4_ne : Opcode::i32x4_ne);
      return;
  }
}

void KernelEmitter::scalar_apply(const Expr& expr) {
  const DType dtype = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
  const auto emit_operands = [&](std::initializer_list<int> order) {
    for (int i : order) emit_scalar(expr.operands[static_cast<size_t>(i)]);
  };
  if (expr.op == Op::Select) {
    emit_operands({1, 2, 0});
    code().op(Opcode::select);
    return;
  }
  if (any_lane(expr)) return;
  for (int i = 0; i < expr.operand_count(); ++i) {
    emit_scalar(expr.operands[static_cast<size_t>(i)]);
    if (i == 1 && expr.op == Op::MulAdd) code().op(Opcode::f32_mul);
  }
  if (expr.op == Op::MulAdd) {
    code().op(Opcode::f32_add);
  } else if (const auto opcode = scalar_opcode(expr.op, dtype)) {
    code().op(*opcode);
  } else if (expr.op == Op::Max || expr.op == Op::Min) {
    const uint32_t x = acquire(ValType::i32), y = acquire(ValType::i32);
    code().op_index(Opcode::local_set, y).op_index(Opcode::local_tee, x);
    code().op_index(Opcode::local_get, y);
    code().op_index(Opcode::local_get, x).op_index(Opcode::local_get, y);
    code().op(expr.op == Op::Max ? Opcode::i32_gt_s : Opcode::i32_lt_s).op(Opcode::select);
    release(ValType::i32, x);
    release(ValType::i32, y);
  } else {
    CHECK(expr.op == Op::Detach);
  }
}

// or(or(or(r[4*i], r[4*i + 1]), r[4*i + 2]), r[4*i + 3]) is one instruction on the vector.
bool KernelEmitter::any_lane(const Expr& expr) {
  std::array<const Expr*, kLanes> lanes = {};
  const Expr* rest = &expr;
  const auto operand = [&](const Expr& of, size_t i) {
    return &kernel_.exprs[static_cast<size_t>(of.operands[i])];
  };
  for (size_t lane = kLanes; lane-- > 1;) {
    if (rest->kind != ExprKind::Apply || rest->op != Op::Or) return false;
    lanes[lane] = operand(*rest, 1);
    rest = operand(*rest, 0);
  }
  lanes[0] = rest;
  if (rest->kind != ExprKind::Load || rest->buffer.space != loop::Space::Register) return false;
  const int64_t first = place(rest->address, 1).constant;
  if (!is_vector_register(rest->buffer) || first % kLanes != 0) return false;
  for (size_t lane = 1; lane < lanes.size(); ++lane) {
    const Expr& load = *lanes[lane];
    if (load.kind != ExprKind::Load || load.buffer != rest->buffer) return false;
    if (place(load.address, 1).constant != first + static_cast<int64_t>(lane)) return false;
  }
  vector_beside(rest->buffer, first);
  code().op(Opcode::v128_any_true);
  return true;
}

// max(x, constant) as one instruction: pmax keeps a NaN of its first operand, f32x4.max costs
// several on x86.
bool KernelEmitter::vector_bound(const Expr& expr) {
  if ((expr.op != Op::Max && expr.op != Op::Min) || expr.dtype != DType::F32) return false;
  for (int i = 0; i < 2; ++i) {
    const ExprId bound = expr.operands[static_cast<size_t>(i)];
    const Expr& constant = kernel_.exprs[static_cast<size_t>(bound)];
    if (constant.kind != ExprKind::Constant || constant.constant.f != constant.constant.f) continue;
    emit_vector(expr.operands[static_cast<size_t>(1 - i)]);
    vector_constant(constant.constant);
    code().op(expr.op == Op::Max ? Opcode::f32x4_pmax : Opcode::f32x4_pmin);
    return true;
  }
  return false;
}

// select(x < a, a, x) is pmax(x, a) and select(a < x, a, x) is pmin(x, a).
bool KernelEmitter::vector_choice(const Expr& expr) {
  const Expr& condition = kernel_.exprs[static_cast<size_t>(expr.operands[0])];
  if (condition.kind != ExprKind::Apply || condition.op != Op::Lt || expr.dtype != DType::F32) {
    return false;
  }
  const ExprId chosen = expr.operands[1], other = expr.operands[2];
  const bool most = condition.operands[0] == other && condition.operands[1] == chosen;
  const bool least = condition.operands[0] == chosen && condition.operands[1] == other;
  if (!most && !least) return false;
  emit_vector(other);
  emit_vector(chosen);
  code().op(most ? Opcode::f32x4_pmax : Opcode::f32x4_pmin);
  return true;
}

// The instruction shifts all lanes by one count.
void KernelEmitter::vector_shift_by_lane(const Expr& expr) {
  const uint32_t x = acquire(ValType::v128), count = acquire(ValType::v128);
  emit_vector(expr.operands[0]);
  emit_vector(expr.operands[1]);
  code().op_index(Opcode::local_set, count).op_index(Opcode::local_set, x);
  code().op_index(Opcode::local_get, x);
  for (uint8_t i = 0; i < kLanes; ++i) {
    code().op_index(Opcode::local_get, x).op_lane(Opcode::i32x4_extract_lane, i);
    code().op_index(Opcode::local_get, count).op_lane(Opcode::i32x4_extract_lane, i);
    code().op(*scalar_opcode(expr.op, DType::I32)).op_lane(Opcode::i32x4_replace_lane, i);
  }
  release(ValType::v128, x);
  release(ValType::v128, count);
}

void KernelEmitter::vector_apply(const Expr& expr) {
  const DType dtype = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
  if (vector_bound(expr)) return;
  if (expr.op == Op::Select) {
    if (vector_choice(expr)) return;
    for (size_t i : {1, 2, 0}) emit_vector(expr.operands[i]);
    code().op(Opcode::v128_bitselect);
    return;
  }
  const bool shift = scalar::info(expr.op).signature == scalar::Signature::Shift;
  if (shift && varies(expr.operands[1])) return vector_shift_by_lane(expr);
  const bool split = expr.op == Op::MulAdd && !target_.relaxed_simd;
  for (int i = 0; i < expr.operand_count(); ++i) {
    const ExprId operand = expr.operands[static_cast<size_t>(i)];
    if (shift && i == 1) {
      emit_scalar(operand);
    } else {
      emit_vector(operand);
    }
    if (i == 1 && split) code().op(Opcode::f32x4_mul);
  }
  if (split) {
    code().op(Opcode::f32x4_add);
  } else if (expr.op == Op::Not) {
    code().op(Opcode::v128_not);
  } else if (expr.op != Op::Detach) {
    const auto opcode = vector_opcode(expr.op, dtype);
    CHECK(opcode.has_value());
    if (*opcode != Opcode::nop) code().op(*opcode);
  }
}

}  // namespace lathe::emit
