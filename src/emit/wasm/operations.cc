// Emits operations on scalars and vectors: one instruction where the opcode table has it, otherwise
// a sequence of instructions. Vector operations without an instruction are applied lane by lane.
#include <array>
#include <utility>
#include <vector>

#include "lathe/base/check.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit_wasm {

using loop::DType;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::Number;
using loop::Op;
using wasm::Opcode;
using wasm::ValType;

namespace {

// f64x2 or f32x4 pmax (`greater`) or pmin: the pseudo-maximum and pseudo-minimum of float lanes.
Opcode pseudo_extreme(DType dtype, bool greater) {
  if (dtype == DType::F64) return greater ? Opcode::f64x2_pmax : Opcode::f64x2_pmin;
  return greater ? Opcode::f32x4_pmax : Opcode::f32x4_pmin;
}

}  // namespace

void KernelEmitter::scalar_apply(const Expr& expr) {
  const DType dtype = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
  if (expr.rare) return rare_choice(expr, false);
  if (expr.op == Op::Select) {
    for (size_t i : {1, 2, 0}) emit_scalar(expr.operands[i]);
    code().op(Opcode::select);
    return;
  }
  if (emit_any_true(expr)) return;
  for (int i = 0; i < expr.operand_count(); ++i) {
    emit_scalar(expr.operands[static_cast<size_t>(i)]);
    if (i == 1 && expr.op == Op::MulAdd) code().op(*scalar_opcode(Op::Mul, dtype));
  }
  apply_to_scalars(expr.op == Op::MulAdd ? Op::Add : expr.op, dtype);
}

// Applies the operation to operands of this type, which are on the stack.
void KernelEmitter::apply_to_scalars(Op op, DType dtype) {
  if (const auto opcode = scalar_opcode(op, dtype)) {
    code().op(*opcode);
    return;
  }
  const ValType type = wasm_type(dtype).type;
  const auto get = [this](uint32_t local) { code().op_index(Opcode::local_get, local); };
  const auto set = [this](uint32_t local) { code().op_index(Opcode::local_set, local); };
  switch (op) {
    case Op::Max:
    case Op::Min: {
      const uint32_t x = acquire(type), y = acquire(type);
      set(y);
      code().op_index(Opcode::local_tee, x);
      get(y);
      get(x);
      get(y);
      code().op(*scalar_opcode(op == Op::Max ? Op::Gt : Op::Lt, dtype)).op(Opcode::select);
      release(type, x);
      release(type, y);
      return;
    }
    case Op::Abs:
    case Op::Neg: {
      if (op == Op::Abs && !scalar::is_signed(dtype)) return;
      const uint32_t x = acquire(type);
      set(x);
      scalar_constant(Number::from(dtype, 0));
      get(x);
      code().op(*scalar_opcode(Op::Sub, dtype));
      if (op == Op::Abs) {
        get(x);
        get(x);
        scalar_constant(Number::from(dtype, 0));
        code().op(*scalar_opcode(Op::Lt, dtype)).op(Opcode::select);
      }
      return release(type, x);
    }
    case Op::Div:
      return divide_scalars(dtype);
    case Op::ToBits:
      code().op(dtype == DType::F64 ? Opcode::i64_reinterpret_f64 : Opcode::i32_reinterpret_f32);
      return;
    case Op::FromBits:
      code().op(dtype == DType::I64 ? Opcode::f64_reinterpret_i64 : Opcode::f32_reinterpret_i32);
      return;
    default:
      LATHE_CHECK(op == Op::Detach);
  }
}

// Integer division of x by y without traps. The instruction traps on division by 0, and on that of
// the lowest number by -1. For y = 0 and for a signed y = -1 the divisor is 1 instead, and the
// result is x * y: 0 or -x.
void KernelEmitter::divide_scalars(DType dtype) {
  const bool is_signed = scalar::is_signed(dtype), wide = lane_size(dtype) == 8;
  const ValType type = wasm_type(dtype).type;
  const uint32_t x = acquire(type), y = acquire(type), special = acquire(ValType::i32);
  const auto get = [this](uint32_t local) { code().op_index(Opcode::local_get, local); };
  code().op_index(Opcode::local_set, y).op_index(Opcode::local_set, x);
  get(x);
  get(y);
  code().op(*scalar_opcode(Op::Mul, dtype));
  get(x);
  scalar_constant(Number::from(dtype, 1));
  get(y);
  get(y);
  if (is_signed) {
    scalar_constant(Number::from(dtype, 1));
    code().op(*scalar_opcode(Op::Add, dtype));
    scalar_constant(Number::from(dtype, 2));
    code().op(wide ? Opcode::i64_lt_u : Opcode::i32_lt_u);
  } else {
    code().op(wide ? Opcode::i64_eqz : Opcode::i32_eqz);
  }
  code().op_index(Opcode::local_tee, special).op(Opcode::select);
  code().op(wide ? (is_signed ? Opcode::i64_div_s : Opcode::i64_div_u)
                 : (is_signed ? Opcode::i32_div_s : Opcode::i32_div_u));
  get(special);
  code().op(Opcode::select);
  release(type, x);
  release(type, y);
  release(ValType::i32, special);
}

// Emits or(or(or(r[4*i], r[4*i + 1]), r[4*i + 2]), r[4*i + 3]) of a vector register as
// v128.any_true. False: the expression is something else, and nothing is emitted.
bool KernelEmitter::emit_any_true(const Expr& expr) {
  constexpr int kVector = 4;
  if (lanes_ != kVector) return false;
  std::array<const Expr*, kVector> lanes = {};
  const Expr* rest = &expr;
  const auto operand = [&](const Expr& parent, size_t i) {
    return &kernel_.exprs[static_cast<size_t>(parent.operands[i])];
  };
  for (size_t lane = kVector; lane-- > 1;) {
    if (rest->kind != ExprKind::Apply || rest->op != Op::Or) return false;
    lanes[lane] = operand(*rest, 1);
    rest = operand(*rest, 0);
  }
  lanes[0] = rest;
  if (rest->kind != ExprKind::Load || rest->buffer.space != loop::Space::Register) return false;
  const int64_t first = split(rest->address, 1).constant;
  if (!is_vector_register(rest->buffer) || first % kVector != 0) return false;
  for (size_t lane = 1; lane < lanes.size(); ++lane) {
    const Expr& load = *lanes[lane];
    if (load.kind != ExprKind::Load || load.buffer != rest->buffer) return false;
    if (split(load.address, 1).constant != first + static_cast<int64_t>(lane)) return false;
  }
  contiguous_vector(rest->buffer, first);
  code().op(Opcode::v128_any_true);
  return true;
}

// Whether the value is statically known not to be NaN: a constant other than NaN, or
// select(a < b, a or b, x) where x is never NaN.
bool KernelEmitter::is_never_nan(ExprId id) const {
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  if (expr.kind == ExprKind::Constant) {
    const double number = expr.constant.as_double();
    return number == number;
  }
  if (expr.kind != ExprKind::Apply || expr.op != Op::Select) return false;
  const Expr& condition = kernel_.exprs[static_cast<size_t>(expr.operands[0])];
  return condition.kind == ExprKind::Apply && condition.op == Op::Lt &&
         (condition.operands[0] == expr.operands[1] || condition.operands[1] == expr.operands[1]) &&
         is_never_nan(expr.operands[2]);
}

// f32x4.max is eight dependent instructions on x86. pmax is one and propagates a NaN of its first
// operand; NaNs of the second are merged afterwards by `or`: all bits 1 is a NaN. False: the
// expression is not a maximum or minimum of floats, and nothing is emitted.
bool KernelEmitter::emit_min_max(const Expr& expr) {
  if ((expr.op != Op::Max && expr.op != Op::Min) || !scalar::is_float(expr.dtype)) return false;
  const bool is_swapped = is_never_nan(expr.operands[0]) && !is_never_nan(expr.operands[1]);
  const ExprId x = expr.operands[is_swapped ? 1 : 0], y = expr.operands[is_swapped ? 0 : 1];
  emit_vector(x);
  emit_vector(y);
  const Opcode opcode = pseudo_extreme(expr.dtype, expr.op == Op::Max);
  if (is_never_nan(y)) {
    code().op(opcode);
    return true;
  }
  const uint32_t local = acquire(ValType::v128);
  code().op_index(Opcode::local_tee, local).op(opcode);
  code().op_index(Opcode::local_get, local).op_index(Opcode::local_get, local);
  code().op(*vector_opcode(Op::Ne, expr.dtype)).op(Opcode::v128_or);
  release(ValType::v128, local);
  return true;
}

// select(x < a, a, x) is pmax(x, a) and select(a < x, a, x) is pmin(x, a). False: the expression is
// neither, and nothing is emitted.
bool KernelEmitter::emit_select_as_min_max(const Expr& expr) {
  const Expr& condition = kernel_.exprs[static_cast<size_t>(expr.operands[0])];
  if (condition.kind != ExprKind::Apply || condition.op != Op::Lt ||
      !scalar::is_float(expr.dtype)) {
    return false;
  }
  const ExprId chosen = expr.operands[1], other = expr.operands[2];
  const bool is_maximum = condition.operands[0] == other && condition.operands[1] == chosen;
  const bool is_minimum = condition.operands[0] == chosen && condition.operands[1] == other;
  if (!is_maximum && !is_minimum) return false;
  emit_vector(other);
  emit_vector(chosen);
  code().op(pseudo_extreme(expr.dtype, is_maximum));
  return true;
}

// Whether the operation leaves the bits of a vector unchanged, so that no instruction is emitted.
bool KernelEmitter::is_no_op(const Expr& expr) const {
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

void KernelEmitter::apply_to_lanes(const Expr& expr) {
  std::vector<uint32_t> operands;
  const auto dtype_of_operand = [&](size_t i) {
    return kernel_.exprs[static_cast<size_t>(expr.operands[i])].dtype;
  };
  for (size_t i = 0; i < static_cast<size_t>(expr.operand_count()); ++i) {
    emit_vector(expr.operands[i]);
    operands.push_back(acquire(ValType::v128));
    code().op_index(Opcode::local_set, operands.back());
  }
  for (int i = 0; i < lanes_; ++i) {
    const auto lane = static_cast<uint8_t>(i);
    for (size_t k = 0; k < operands.size(); ++k) {
      code().op_index(Opcode::local_get, operands[k]);
      extract_lane_of(dtype_of_operand(k), lane);
    }
    apply_to_scalars(expr.op, dtype_of_operand(0));
    if (lane == 0) {
      splat_scalar(expr.dtype);
    } else {
      replace_lane_of(expr.dtype, lane);
    }
  }
  for (const uint32_t local : operands) release(ValType::v128, local);
}

// A select whose first operand is rarely chosen: it is computed in a branch, which is taken if the
// scalar condition, or that of any lane, is true. The other operand and the condition are computed
// before the branch. Values that are saved in locals within it are not available after it.
void KernelEmitter::rare_choice(const Expr& expr, bool vector) {
  const ValType type = vector ? ValType::v128 : wasm_type(expr.dtype).type;
  const auto get = [this](uint32_t local) { code().op_index(Opcode::local_get, local); };
  const auto emit = [&](size_t i) {
    vector ? emit_vector(expr.operands[i]) : emit_scalar(expr.operands[i]);
  };
  const uint32_t usual = acquire(type);
  emit(2);
  code().op_index(Opcode::local_set, usual);
  emit(0);
  std::optional<uint32_t> mask;
  if (vector) {
    narrow_mask(expr.dtype);
    mask = acquire(ValType::v128);
    code().op_index(Opcode::local_tee, *mask).op(Opcode::v128_any_true);
  }
  code().if_(type);
  std::vector<std::pair<ExprId, bool>> saved_in_branch;
  auto* const outer = std::exchange(saved_in_branch_, &saved_in_branch);
  emit(1);
  saved_in_branch_ = outer;
  for (const auto& key : saved_in_branch) {
    release(saved_[key].first, saved_[key].second);
    saved_.erase(key);
  }
  if (mask) {
    get(usual);
    get(*mask);
    code().op(Opcode::v128_bitselect);
    release(ValType::v128, *mask);
  }
  code().else_();
  get(usual);
  code().end();
  release(type, usual);
}

void KernelEmitter::vector_select(const Expr& expr) {
  if (expr.rare) return rare_choice(expr, true);
  if (emit_select_as_min_max(expr)) return;
  // Engines compile bitselect to three instructions; an `and` suffices if the alternative is zero.
  const bool or_zero = is_zero(expr.operands[2]);
  emit_vector(expr.operands[1]);
  if (!or_zero) emit_vector(expr.operands[2]);
  emit_vector(expr.operands[0]);
  narrow_mask(expr.dtype);
  code().op(or_zero ? Opcode::v128_and : Opcode::v128_bitselect);
}

void KernelEmitter::vector_apply(const Expr& expr) {
  const DType dtype = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
  if (emit_min_max(expr) || load_high_words(expr)) return;
  if (expr.op == Op::Select) return vector_select(expr);
  if (is_no_op(expr)) return emit_vector(expr.operands[0]);
  const bool shift = scalar::info(expr.op).signature == scalar::Signature::Shift;
  const auto opcode = vector_opcode(expr.op, dtype);
  // The instruction shifts all lanes by one count.
  if (!opcode || (shift && varies(expr.operands[1]))) return apply_to_lanes(expr);
  const bool unfused = expr.op == Op::MulAdd && !target_.relaxed_simd;
  for (int i = 0; i < expr.operand_count(); ++i) {
    const ExprId operand = expr.operands[static_cast<size_t>(i)];
    if (shift && i == 1) {
      emit_scalar(operand);
      if (lane_size(dtype) == 8) code().op(Opcode::i32_wrap_i64);
    } else {
      emit_vector(operand);
    }
    if (i == 1 && unfused) code().op(*vector_opcode(Op::Mul, dtype));
  }
  code().op(unfused ? *vector_opcode(Op::Add, dtype) : *opcode);
  if (expr.dtype == DType::Bool && dtype != DType::Bool) widen_mask(dtype);
}

}  // namespace lathe::emit_wasm
