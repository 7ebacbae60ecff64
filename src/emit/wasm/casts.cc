#include "lathe/emit/wasm/casts.h"

#include <optional>

#include "lathe/base/check.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/emit/wasm/scalar_operations.h"

namespace lathe::emit_wasm {

using scalar::DType;
using scalar::Number;
using scalar::Op;
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

void CastEmitter::convert_scalar(DType from, DType to) {
  if (from == to) return;
  const DType source = arithmetic_type(from), target = arithmetic_type(to);
  if (to == DType::Bool) {
    push_scalar(code_, Number::from(source, 0));
    code_.op(*scalar_opcode(Op::Ne, source));
    return;
  }
  if (!is_same_representation(source, target)) code_.op(scalar_conversion(source, target));
  if (scalar::is_computed(to) || from == DType::Bool) return;
  if (scalar::is_float(source)) {
    bound_scalar(Op::Min, scalar::cast(Number::highest(to), target));
    bound_scalar(Op::Max, scalar::cast(Number::lowest(to), target));
  } else if (!scalar::is_signed(to)) {
    code_.i32_const(static_cast<int32_t>(Number::highest(to).i)).op(Opcode::i32_and);
  } else {
    code_.op(scalar::size_of(to) == 1 ? Opcode::i32_extend8_s : Opcode::i32_extend16_s);
  }
}

// The minimum or maximum of the i32 on the stack and a constant.
void CastEmitter::bound_scalar(Op op, const Number& bound) {
  push_scalar(code_, bound);
  apply_to_scalars(code_, locals_, op, DType::I32);
}

void CastEmitter::convert_vector(DType from, DType to) {
  if (from == to) return;
  const std::vector<Number> constants = constants_of_cast(from, to);
  if (from == DType::Bool) {
    lanes_.narrow_mask(to);
    constants_.push(constants[0]);
    code_.op(Opcode::v128_and);
    return;
  }
  const DType source = scalar::computed(from), target = scalar::computed(to);
  if (to == DType::Bool) {
    constants_.push(constants[0]);
    code_.op(*vector_opcode(Op::Ne, source));
    return lanes_.widen_mask(source);
  }
  convert_lanes(source, target);
  if (scalar::is_computed(to)) return;
  if (scalar::is_float(source)) {
    constants_.push(constants[0]);
    code_.op(Opcode::i32x4_min_s);
    constants_.push(constants[1]);
    code_.op(Opcode::i32x4_max_s);
  } else if (!scalar::is_signed(to)) {
    constants_.push(constants[0]);
    code_.op(Opcode::v128_and);
  } else {
    const int spare = 32 - 8 * scalar::size_of(to);
    code_.i32_const(spare).op(Opcode::i32x4_shl).i32_const(spare).op(Opcode::i32x4_shr_s);
  }
}

// Between types of arithmetic.
void CastEmitter::convert_lanes(DType from, DType to) {
  if (is_same_representation(from, to)) return;
  if (const auto opcode = lanes_conversion(from, to)) {
    code_.op(*opcode);
    return;
  }
  const bool shortens = !scalar::is_float(from) && !scalar::is_float(to);
  if (shortens) return lanes_.pack_low_words();
  const uint32_t value = locals_.acquire(ValType::v128);
  code_.op_index(Opcode::local_set, value);
  for (int i = 0; i < count_; ++i) {
    const auto lane = static_cast<uint8_t>(i);
    code_.op_index(Opcode::local_get, value);
    lanes_.extract(from, lane);
    code_.op(scalar_conversion(from, to));
    if (lane == 0) {
      lanes_.splat(to);
    } else {
      lanes_.replace(to, lane);
    }
  }
  locals_.release(ValType::v128, value);
}

}  // namespace lathe::emit_wasm
