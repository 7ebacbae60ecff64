#include "lathe/emit/wasm/operations.h"

#include <array>
#include <optional>
#include <vector>

#include "lathe/emit/wasm/expressions.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/emit/wasm/scalar_operations.h"

namespace lathe::emit_wasm {

using loop::DType;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::Op;
using wasm::Opcode;
using wasm::ValType;

namespace {

// f64x2 or f32x4 pmax (`greater`) or pmin: the pseudo-maximum and pseudo-minimum of float lanes.
Opcode pseudo_extreme(DType dtype, bool greater) {
  if (dtype == DType::F64) return greater ? Opcode::f64x2_pmax : Opcode::f64x2_pmin;
  return greater ? Opcode::f32x4_pmax : Opcode::f32x4_pmin;
}

// Whether the operation leaves the bits of a vector unchanged, so that no instruction is emitted.
bool is_no_op(const Expr& expr) {
  switch (expr.op) {
    case Op::Detach:
    case Op::ToBits:
    case Op::FromBits:
      return true;
    case Op::Abs:
      return !scalar::is_float(expr.dtype) && !scalar::is_signed(expr.dtype);
    default:
      return false;
  }
}

}  // namespace

void OperationEmitter::apply_scalar(const Expr& expr) {
  const DType dtype = context_.operand(expr, 0).dtype;
  if (expr.rare) return select_rarely(expr, false);
  if (expr.op == Op::Select) {
    for (size_t i : {1, 2, 0}) expressions_.emit_scalar(expr.operands[i]);
    code_.op(Opcode::select);
    return;
  }
  if (emit_any_true(expr)) return;
  for (int i = 0; i < expr.operand_count(); ++i) {
    expressions_.emit_scalar(expr.operands[i]);
    if (i == 1 && expr.op == Op::MulAdd) code_.op(*scalar_opcode(Op::Mul, dtype));
  }
  apply_to_scalars(code_, locals_, expr.op == Op::MulAdd ? Op::Add : expr.op, dtype);
}

// Emits or(or(or(r[4*i], r[4*i + 1]), r[4*i + 2]), r[4*i + 3]) of a vector register as
// v128.any_true. False: the expression is something else, and nothing is emitted.
bool OperationEmitter::emit_any_true(const Expr& expr) {
  constexpr int kVector = 4;
  if (context_.lanes != kVector) return false;
  std::array<const Expr*, kVector> lanes = {};
  const Expr* rest = &expr;
  const auto operand = [&](const Expr& parent, size_t i) { return &context_.operand(parent, i); };
  for (size_t lane = kVector; lane-- > 1;) {
    if (rest->kind != ExprKind::Apply || rest->op != Op::Or) return false;
    lanes[lane] = operand(*rest, 1);
    rest = operand(*rest, 0);
  }
  lanes[0] = rest;
  if (rest->kind != ExprKind::Load || rest->buffer.space != loop::Space::Register) return false;
  const int64_t first = addresses_.split(rest->address, 1).constant;
  if (!context_.is_vector_register(rest->buffer) || first % kVector != 0) return false;
  for (size_t lane = 1; lane < lanes.size(); ++lane) {
    const Expr& load = *lanes[lane];
    if (load.kind != ExprKind::Load || load.buffer != rest->buffer) return false;
    if (addresses_.split(load.address, 1).constant != first + static_cast<int64_t>(lane))
      return false;
  }
  registers_.push_vector(rest->buffer, first);
  code_.op(Opcode::v128_any_true);
  return true;
}

// Whether the value is statically known not to be NaN: a constant other than NaN, or
// select(a < b, a or b, x) where x is never NaN.
bool OperationEmitter::is_never_nan(ExprId id) const {
  const Expr& expr = context_.expr(id);
  if (expr.kind == ExprKind::Constant) {
    const double number = expr.constant.as_double();
    return number == number;
  }
  if (expr.kind != ExprKind::Apply || expr.op != Op::Select) return false;
  const Expr& condition = context_.operand(expr, 0);
  return condition.kind == ExprKind::Apply && condition.op == Op::Lt &&
         (condition.operands[0] == expr.operands[1] || condition.operands[1] == expr.operands[1]) &&
         is_never_nan(expr.operands[2]);
}

// f32x4.max is eight dependent instructions on x86. pmax is one and propagates a NaN of its first
// operand; NaNs of the second are merged afterwards by `or`: all bits 1 is a NaN. False: the
// expression is not a maximum or minimum of floats, and nothing is emitted.
bool OperationEmitter::emit_min_max(const Expr& expr) {
  if ((expr.op != Op::Max && expr.op != Op::Min) || !scalar::is_float(expr.dtype)) return false;
  const bool is_swapped = is_never_nan(expr.operands[0]) && !is_never_nan(expr.operands[1]);
  const ExprId x = expr.operands[is_swapped ? 1 : 0], y = expr.operands[is_swapped ? 0 : 1];
  expressions_.emit_vector(x);
  expressions_.emit_vector(y);
  const Opcode opcode = pseudo_extreme(expr.dtype, expr.op == Op::Max);
  if (is_never_nan(y)) {
    code_.op(opcode);
    return true;
  }
  const uint32_t local = locals_.acquire(ValType::v128);
  code_.op_index(Opcode::local_tee, local).op(opcode);
  code_.op_index(Opcode::local_get, local).op_index(Opcode::local_get, local);
  code_.op(*vector_opcode(Op::Ne, expr.dtype)).op(Opcode::v128_or);
  locals_.release(ValType::v128, local);
  return true;
}

// select(x < a, a, x) is pmax(x, a) and select(a < x, a, x) is pmin(x, a). False: the expression is
// neither, and nothing is emitted.
bool OperationEmitter::emit_select_as_min_max(const Expr& expr) {
  const Expr& condition = context_.operand(expr, 0);
  if (condition.kind != ExprKind::Apply || condition.op != Op::Lt ||
      !scalar::is_float(expr.dtype)) {
    return false;
  }
  const ExprId chosen = expr.operands[1], other = expr.operands[2];
  const bool is_maximum = condition.operands[0] == other && condition.operands[1] == chosen;
  const bool is_minimum = condition.operands[0] == chosen && condition.operands[1] == other;
  if (!is_maximum && !is_minimum) return false;
  expressions_.emit_vector(other);
  expressions_.emit_vector(chosen);
  code_.op(pseudo_extreme(expr.dtype, is_maximum));
  return true;
}

void OperationEmitter::apply_to_lanes(const Expr& expr) {
  std::vector<uint32_t> operands;
  const auto dtype_of_operand = [&](size_t i) { return context_.operand(expr, i).dtype; };
  for (int i = 0; i < expr.operand_count(); ++i) {
    expressions_.emit_vector(expr.operands[i]);
    operands.push_back(locals_.acquire(ValType::v128));
    code_.op_index(Opcode::local_set, operands.back());
  }
  for (int i = 0; i < context_.lanes; ++i) {
    const auto lane = static_cast<uint8_t>(i);
    for (size_t k = 0; k < operands.size(); ++k) {
      code_.op_index(Opcode::local_get, operands[k]);
      lanes_.extract(dtype_of_operand(k), lane);
    }
    apply_to_scalars(code_, locals_, expr.op, dtype_of_operand(0));
    if (lane == 0) {
      lanes_.splat(expr.dtype);
    } else {
      lanes_.replace(expr.dtype, lane);
    }
  }
  for (const uint32_t local : operands) locals_.release(ValType::v128, local);
}

// A select whose first operand is rarely chosen: it is computed in a branch, which is taken if the
// scalar condition, or that of any lane, is true. The other operand and the condition are computed
// before the branch. Values that are saved in locals within it are not available after it.
void OperationEmitter::select_rarely(const Expr& expr, bool vector) {
  const ValType type = vector ? ValType::v128 : wasm_type(expr.dtype).type;
  const auto get = [this](uint32_t local) { code_.op_index(Opcode::local_get, local); };
  const auto emit = [&](size_t i) {
    vector ? expressions_.emit_vector(expr.operands[i])
           : expressions_.emit_scalar(expr.operands[i]);
  };
  const uint32_t usual = locals_.acquire(type);
  emit(2);
  code_.op_index(Opcode::local_set, usual);
  emit(0);
  std::optional<uint32_t> mask;
  if (vector) {
    lanes_.narrow_mask(expr.dtype);
    mask = locals_.acquire(ValType::v128);
    code_.op_index(Opcode::local_tee, *mask).op(Opcode::v128_any_true);
  }
  code_.if_(type);
  values_.in_branch([&] { emit(1); });
  if (mask) {
    get(usual);
    get(*mask);
    code_.op(Opcode::v128_bitselect);
    locals_.release(ValType::v128, *mask);
  }
  code_.else_();
  get(usual);
  code_.end();
  locals_.release(type, usual);
}

void OperationEmitter::select_vector(const Expr& expr) {
  if (expr.rare) return select_rarely(expr, true);
  if (emit_select_as_min_max(expr)) return;
  // Engines compile bitselect to three instructions; an `and` suffices if the alternative is zero.
  const bool or_zero = is_zero(context_.operand(expr, 2));
  expressions_.emit_vector(expr.operands[1]);
  if (!or_zero) expressions_.emit_vector(expr.operands[2]);
  expressions_.emit_vector(expr.operands[0]);
  lanes_.narrow_mask(expr.dtype);
  code_.op(or_zero ? Opcode::v128_and : Opcode::v128_bitselect);
}

void OperationEmitter::apply_vector(const Expr& expr) {
  const DType dtype = context_.operand(expr, 0).dtype;
  if (emit_min_max(expr) || pairs_.load_high_words(expr)) return;
  if (expr.op == Op::Select) return select_vector(expr);
  if (is_no_op(expr)) return expressions_.emit_vector(expr.operands[0]);
  const bool shift = scalar::info(expr.op).signature == scalar::Signature::Shift;
  const auto opcode = vector_opcode(expr.op, dtype);
  // The instruction shifts all lanes by one count.
  if (!opcode || (shift && values_.varies(expr.operands[1]))) return apply_to_lanes(expr);
  const bool unfused = expr.op == Op::MulAdd && !context_.target.relaxed_simd;
  for (int i = 0; i < expr.operand_count(); ++i) {
    const ExprId operand = expr.operands[i];
    if (shift && i == 1) {
      expressions_.emit_scalar(operand);
      if (lane_size(dtype) == 8) code_.op(Opcode::i32_wrap_i64);
    } else {
      expressions_.emit_vector(operand);
    }
    if (i == 1 && unfused) code_.op(*vector_opcode(Op::Mul, dtype));
  }
  code_.op(unfused ? *vector_opcode(Op::Add, dtype) : *opcode);
  if (expr.dtype == DType::Bool && dtype != DType::Bool) lanes_.widen_mask(dtype);
}

}  // namespace lathe::emit_wasm
