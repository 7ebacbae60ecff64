#include "lathe/import/onnx/operators/narrow_floats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lathe/import/onnx/operators/arithmetic.h"

namespace lathe::onnx {

namespace {

// https://onnx.ai/onnx/technical/float8.html and float4.html. A format without infinities and with
// one NaN, encoded as -0, has `unsigned_zero`.
struct Format {
  int mantissa, bias;
  int largest;   // bits of the largest number
  int infinity;  // bits, or -1
  int nan;
  bool unsigned_zero;
  int sign;  // bit
};

Format format_of(Type type) {
  switch (type) {
    case Type::Float8E4M3FN:
      return {3, 7, 0x7e, -1, 0x7f, false, 0x80};
    case Type::Float8E4M3FNUZ:
      return {3, 8, 0x7f, -1, 0x80, true, 0x80};
    case Type::Float8E5M2:
      return {2, 15, 0x7b, 0x7c, 0x7e, false, 0x80};
    case Type::Float8E5M2FNUZ:
      return {2, 16, 0x7f, -1, 0x80, true, 0x80};
    default:
      return {1, 1, 0x7, -1, 0x8, false, 0x8};  // Float4E2M1, where NaN becomes -0
  }
}

// The value of the bits without their sign.
double size_of_bits(const Format& format, int bits) {
  const int exponent = bits >> format.mantissa, fraction = bits & ((1 << format.mantissa) - 1);
  const int integer = exponent == 0 ? fraction : fraction + (1 << format.mantissa);
  return std::ldexp(integer, std::max(exponent, 1) - format.bias - format.mantissa);
}

double value_of_bits(Type type, int bits) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (type == Type::Float8E8M0) return bits == 0xff ? kNan : std::ldexp(1, bits - 127);
  const Format format = format_of(type);
  const int size = bits & (format.sign - 1);
  const bool is_negative = (bits & format.sign) != 0;
  if (format.unsigned_zero && bits == format.nan) return kNan;
  if (size == format.infinity) {
    return is_negative ? -std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::infinity();
  }
  if (size > format.largest) return kNan;
  return is_negative ? -size_of_bits(format, size) : size_of_bits(format, size);
}

Tensor integer(Tensor like, int32_t value) {
  return like.builder->full({}, scalar::Number::of(value));
}

// The power of two of an F32 of any sign: its exponent, rounded by `how`.
Tensor exponents(Tensor x, const NarrowingOptions& how) {
  const Tensor bits = map(Op::ToBits, x);
  const Tensor field = map(Op::BitAnd, map(Op::ShiftRight, bits, integer(x, 23)), integer(x, 0xff));
  const Tensor fraction = map(Op::BitAnd, bits, integer(x, 0x7fffff));
  Tensor more = fraction > integer(x, 0);
  if (how.round == "down") more = fraction < integer(x, 0);
  if (how.round == "nearest") {
    const Tensor tie = map(Op::And, fraction == integer(x, 0x400000), field > integer(x, 0));
    more = map(Op::Or, fraction > integer(x, 0x400000), tie);
  }
  if (how.saturate) more = map(Op::And, more, field < integer(x, 0xfe));
  const Tensor next = minimum(field + cast_to(more, DType::I32), integer(x, 0xff));
  return cast_to(next, DType::U8);
}

// The lowest bits of an integer, as a number of that many bits.
Tensor wrapped(Tensor x, Type type) {
  const Tensor all = cast_to(x, DType::I32);
  const int bits = onnx::bits_of(type);
  const bool is_signed = type == Type::Int4 || type == Type::Int2;
  if (!is_signed) return cast_to(map(Op::BitAnd, all, integer(all, (1 << bits) - 1)), DType::U8);
  const Tensor up = map(Op::ShiftLeft, all, integer(all, 32 - bits));
  return cast_to(map(Op::ShiftRight, up, integer(all, 32 - bits)), DType::I8);
}

}  // namespace

bool is_stored_as_bits(Type type) { return (only(type) & (kFloat8 | only(Type::Float4E2M1))) != 0; }

Tensor widened(Tensor bits, Type type) {
  if (!bits.valid()) return bits;
  Builder& builder = *bits.builder;
  const Shape shape = bits.shape();
  std::vector<double> table;
  const int count = type == Type::Float4E2M1 ? 16 : 256;
  for (int each = 0; each < count; ++each) table.push_back(value_of_bits(type, each));
  const Tensor values = numbers(builder, DType::F32, {count}, table);
  const Tensor index = builder.reshape(cast_to(bits, DType::I32), {-1});
  return builder.reshape(builder.gather(values, index, 0), shape);
}

Tensor narrowed(Tensor x, Type type, const NarrowingOptions& how) {
  if (!x.valid()) return x;
  if (type == Type::Float8E8M0) return exponents(x, how);
  const Format format = format_of(type);
  const Tensor bits = map(Op::ToBits, x);
  const Tensor size = map(Op::BitAnd, bits, integer(x, 0x7fffffff));
  // Steps of the nearest numbers: a power of two, that of the least ones at least.
  const Tensor field = map(Op::ShiftRight, size, integer(x, 23));
  const Tensor exponent = maximum(field - integer(x, 127), integer(x, 1 - format.bias));
  const Tensor step =
      map(Op::FromBits,
          map(Op::ShiftLeft, integer(x, 127 + format.mantissa) - exponent, integer(x, 23)));
  const Tensor steps = map(Op::Nearest, minimum(absolute(x), number_like(x, 1e30)) * step);
  // Rounding up to the next power of two increments the exponent.
  const Tensor code =
      map(Op::ShiftLeft, exponent + integer(x, format.bias - 1), integer(x, format.mantissa)) +
      cast_to(steps, DType::I32);
  const bool has_end = !how.saturate && type != Type::Float4E2M1;
  const int end = format.infinity >= 0 ? format.infinity : format.nan;
  const int beyond = has_end ? end : format.largest;
  const Tensor is_beyond = code > integer(x, format.largest);
  const Tensor all = select(is_beyond, integer(x, beyond), code);
  const Tensor is_negative = bits < integer(x, 0);
  Tensor has_sign = is_negative;
  if (format.unsigned_zero) {
    has_sign = map(Op::And, is_negative, all > integer(x, 0));
  }
  const Tensor signed_code =
      map(Op::BitOr, all, select(has_sign, integer(x, format.sign), integer(x, 0)));
  const Tensor is_nan = size > integer(x, 0x7f800000);
  return cast_to(select(is_nan, integer(x, format.nan), signed_code), DType::U8);
}

Tensor converted(Tensor x, Type from, Type to, const NarrowingOptions& how) {
  if (from == to || !x.valid()) return x;
  if (is_stored_as_bits(from)) x = widened(x, from);
  if (is_stored_as_bits(to)) return narrowed(cast_to(x, DType::F32), to, how);
  const bool is_packed = (only(to) & kPacked) != 0;
  if (!is_packed) return x.builder->cast(x, dtype_of(to));
  return wrapped(scalar::is_float(x.dtype()) ? map(Op::Nearest, x) : x, to);
}

}  // namespace lathe::onnx
