// Conversions between types, of scalars and of the lanes of a vector, as scalar::cast has them:
// to a type of arithmetic first, then what is shorter wraps, or stops at the ends of its range.
#include "lathe/base/check.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit_wasm {

using loop::DType;
using loop::Expr;
using loop::Number;
using loop::Op;
using wasm::Opcode;
using wasm::ValType;

namespace {

bool is_same_representation(DType from, DType to) {
  return scalar::is_float(from) == scalar::is_float(to) &&
         scalar::size_of(from) == scalar::size_of(to);
}

// Between two types of arithmetic with different representations. A type that is not listed here
// does not compile.
Opcode scalar_conversion(DType from, DType to) {
#define OTHERS      \
  case DType::Bool: \
  case DType::I8:   \
  case DType::U8:   \
  case DType::I16:  \
  case DType::U16:  \
  case DType::F16:  \
  case DType::BF16: \
    break;
#define EACH_FROM(i32_, u32_, i64_, u64_, f32_, f64_) \
  switch (from) {                                     \
    case DType::I32:                                  \
      return Opcode::i32_;                            \
    case DType::U32:                                  \
      return Opcode::u32_;                            \
    case DType::I64:                                  \
      return Opcode::i64_;                            \
    case DType::U64:                                  \
      return Opcode::u64_;                            \
    case DType::F32:                                  \
      return Opcode::f32_;                            \
    case DType::F64:                                  \
      return Opcode::f64_;                            \
      OTHERS                                          \
  }                                                   \
  break;
  switch (to) {
    case DType::F32:
      EACH_FROM(f32_convert_i32_s, f32_convert_i32_u, f32_convert_i64_s, f32_convert_i64_u, nop,
                f32_demote_f64)
    case DType::F64:
      EACH_FROM(f64_convert_i32_s, f64_convert_i32_u, f64_convert_i64_s, f64_convert_i64_u,
                f64_promote_f32, nop)
    case DType::I32:
      EACH_FROM(nop, nop, i32_wrap_i64, i32_wrap_i64, i32_trunc_sat_f32_s, i32_trunc_sat_f64_s)
    case DType::U32:
      EACH_FROM(nop, nop, i32_wrap_i64, i32_wrap_i64, i32_trunc_sat_f32_u, i32_trunc_sat_f64_u)
    case DType::I64:
      EACH_FROM(i64_extend_i32_s, i64_extend_i32_u, nop, nop, i64_trunc_sat_f32_s,
                i64_trunc_sat_f64_s)
    case DType::U64:
      EACH_FROM(i64_extend_i32_s, i64_extend_i32_u, nop, nop, i64_trunc_sat_f32_u,
                i64_trunc_sat_f64_u)
      OTHERS
  }
#undef EACH_FROM
#undef OTHERS
  LATHE_CHECK(!"a conversion between types that are not of arithmetic");
  return Opcode::nop;
}

// Of all lanes; nothing where WebAssembly has none.
std::optional<Opcode> lanes_conversion(DType from, DType to) {
  const auto is = [from, to](DType a, DType b) { return from == a && to == b; };
  if (is(DType::I32, DType::F32)) return Opcode::f32x4_convert_i32x4_s;
  if (is(DType::U32, DType::F32)) return Opcode::f32x4_convert_i32x4_u;
  if (is(DType::F32, DType::I32)) return Opcode::i32x4_trunc_sat_f32x4_s;
  if (is(DType::F32, DType::U32)) return Opcode::i32x4_trunc_sat_f32x4_u;
  if (is(DType::F32, DType::F64)) return Opcode::f64x2_promote_low_f32x4;
  if (is(DType::F64, DType::F32)) return Opcode::f32x4_demote_f64x2_zero;
  if (is(DType::I32, DType::F64)) return Opcode::f64x2_convert_low_i32x4_s;
  if (is(DType::U32, DType::F64)) return Opcode::f64x2_convert_low_i32x4_u;
  if (is(DType::F64, DType::I32)) return Opcode::i32x4_trunc_sat_f64x2_s_zero;
  if (is(DType::F64, DType::U32)) return Opcode::i32x4_trunc_sat_f64x2_u_zero;
  const bool lengthens = !scalar::is_float(from) && !scalar::is_float(to) &&
                         scalar::size_of(from) < scalar::size_of(to);
  if (!lengthens) return std::nullopt;
  return scalar::is_signed(from) ? Opcode::i64x2_extend_low_i32x4_s
                                 : Opcode::i64x2_extend_low_i32x4_u;
}

DType arithmetic_type(DType dtype) {
  return dtype == DType::Bool ? DType::I32 : scalar::computed(dtype);
}

}  // namespace

void KernelEmitter::scalar_cast(const Expr& expr) {
  emit_scalar(expr.operands[0]);
  convert_scalar(kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype, expr.dtype);
}

void KernelEmitter::convert_scalar(DType from, DType to) {
  if (from == to) return;
  const DType source = arithmetic_type(from), target = arithmetic_type(to);
  if (to == DType::Bool) {
    scalar_constant(Number::from(source, 0));
    code().op(*scalar_opcode(Op::Ne, source));
    return;
  }
  if (!is_same_representation(source, target)) code().op(scalar_conversion(source, target));
  if (scalar::is_computed(to) || from == DType::Bool) return;
  if (scalar::is_float(source)) {
    bound_scalar(Op::Min, scalar::cast(Number::highest(to), target));
    bound_scalar(Op::Max, scalar::cast(Number::lowest(to), target));
  } else if (!scalar::is_signed(to)) {
    code().i32_const(static_cast<int32_t>(Number::highest(to).i)).op(Opcode::i32_and);
  } else {
    code().op(scalar::size_of(to) == 1 ? Opcode::i32_extend8_s : Opcode::i32_extend16_s);
  }
}

// The minimum or maximum of the i32 on the stack and a constant.
void KernelEmitter::bound_scalar(Op op, const Number& bound) {
  scalar_constant(bound);
  apply_to_scalars(op, DType::I32);
}

void KernelEmitter::vector_cast(const Expr& expr) {
  emit_vector(expr.operands[0]);
  convert_vector(kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype, expr.dtype);
}

std::vector<Number> constants_of_cast(DType from, DType to) {
  if (from == to) return {};
  if (from == DType::Bool) return {Number::from(to, 1)};
  const DType source = scalar::computed(from), target = scalar::computed(to);
  if (to == DType::Bool) return {Number::from(source, 0)};
  if (scalar::is_computed(to)) return {};
  const Number highest = scalar::cast(Number::highest(to), target);
  if (scalar::is_float(source)) return {highest, scalar::cast(Number::lowest(to), target)};
  return scalar::is_signed(to) ? std::vector<Number>{} : std::vector{highest};
}

void KernelEmitter::convert_vector(DType from, DType to) {
  if (from == to) return;
  const std::vector<Number> constants = constants_of_cast(from, to);
  if (from == DType::Bool) {
    narrow_mask(to);
    vector_constant(constants[0]);
    code().op(Opcode::v128_and);
    return;
  }
  const DType source = scalar::computed(from), target = scalar::computed(to);
  if (to == DType::Bool) {
    vector_constant(constants[0]);
    code().op(*vector_opcode(Op::Ne, source));
    return widen_mask(source);
  }
  convert_lanes(source, target);
  if (scalar::is_computed(to)) return;
  if (scalar::is_float(source)) {
    vector_constant(constants[0]);
    code().op(Opcode::i32x4_min_s);
    vector_constant(constants[1]);
    code().op(Opcode::i32x4_max_s);
  } else if (!scalar::is_signed(to)) {
    vector_constant(constants[0]);
    code().op(Opcode::v128_and);
  } else {
    const int spare = 32 - 8 * scalar::size_of(to);
    code().i32_const(spare).op(Opcode::i32x4_shl).i32_const(spare).op(Opcode::i32x4_shr_s);
  }
}

// Between types of arithmetic.
void KernelEmitter::convert_lanes(DType from, DType to) {
  if (is_same_representation(from, to)) return;
  if (const auto opcode = lanes_conversion(from, to)) {
    code().op(*opcode);
    return;
  }
  const bool shortens = !scalar::is_float(from) && !scalar::is_float(to);
  if (shortens) return pack_low_words();
  const uint32_t value = acquire(ValType::v128);
  code().op_index(Opcode::local_set, value);
  for (int i = 0; i < lanes_; ++i) {
    const auto lane = static_cast<uint8_t>(i);
    code().op_index(Opcode::local_get, value);
    extract_lane_of(from, lane);
    code().op(scalar_conversion(from, to));
    if (lane == 0) {
      splat_scalar(to);
    } else {
      replace_lane_of(to, lane);
    }
  }
  release(ValType::v128, value);
}

}  // namespace lathe::emit_wasm
