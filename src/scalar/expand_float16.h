// Conversions between float16 or bfloat16 bits (as i32) and f32 in integer arithmetic: for targets
// without such types. The way to binary16 adds a power of two that pushes the digits beyond the
// last out (M. Dukhan, "FP16", 2017).
#pragma once

#include "lathe/scalar/expand.h"

namespace lathe::scalar::expand {

// Each value is named: the order of evaluation of two arguments must not decide which expression
// comes first.

// bits: of binary16, an i32 from 0 to 65535.
template <Value V>
V f32_of_half(const V& bits) {
  const V upper = shift_left(bits, bits.like_i32(16)), moved = shift_right(upper, bits.like_i32(3));
  const V close = moved & bits.like_i32(-0x70002000);  // the sign is where it belongs
  const V scaled = from_bits(close), finite = scaled * bits.like(0x1p112f);
  const V highest = bits.like_i32(0x0f800000), exponent = moved & highest;
  const V is_special = exponent == highest, infinity = bits.like_i32(0x7f800000);
  const V beyond = select(is_special, infinity, bits.like_i32(0)), near = to_bits(finite);
  return from_bits(near | beyond);
}

template <Value V>
V half_of_f32(const V& x) {
  const V bits = to_bits(x), size = bits & x.like_i32(INT32_MAX);
  const V exponent = size & x.like_i32(0x7f800000), least = x.like_i32(0x38800000);
  const V is_less = exponent < least, power = select(is_less, least, exponent);
  const V pushed = from_bits(power + x.like_i32(0x07800000));
  const V magnitude = absolute(x), scaled = magnitude * x.like(4.0f);
  const V rounded = to_bits(pushed + scaled), moved = shift_right(rounded, x.like_i32(13));
  const V upper = moved & x.like_i32(0x7c00), lower = rounded & x.like_i32(0x0fff);
  const V finite = upper + lower;
  const V infinity = x.like_i32(0x7c00), is_finite = size < x.like_i32(0x477ff000);
  const V bounded = select(is_finite, finite, infinity);
  const V nan = x.like_i32(0x7e00), is_nan = size > x.like_i32(0x7f800000);
  const V half = select(is_nan, nan, bounded), high = shift_right(bits, x.like_i32(16));
  const V sign = high & x.like_i32(0x8000);
  return half | sign;
}

template <Value V>
V f32_of_bhalf(const V& bits) {
  return from_bits(shift_left(bits, bits.like_i32(16)));
}

template <Value V>
V bhalf_of_f32(const V& x) {
  const V bits = to_bits(x), high = shift_right(bits, x.like_i32(16));
  const V odd = high & x.like_i32(1), more = bits + x.like_i32(0x7fff), sum = more + odd;
  const V nearest = shift_right(sum, x.like_i32(16));
  const V size = bits & x.like_i32(INT32_MAX), is_nan = size > x.like_i32(0x7f800000);
  const V quiet = high | x.like_i32(0x40), half = select(is_nan, quiet, nearest);
  return half & x.like_i32(0xffff);
}

// scalar::odd_f32.
template <Value V>
V odd_f32(const V& x) {
  const V nearest = to_f32(x), back = cast(nearest, DType::F64);
  const V size = absolute(x), far = absolute(back), beyond = to_i32(size < far);
  const V bits = to_bits(nearest), less = bits - beyond, odd = from_bits(less | x.like_i32(1));
  const V is_exact = back == x;
  return select(is_exact, nearest, odd);
}

// An i32 or u32 as an f32 that rounds to bfloat16 as it does: it is exact below 2^24; of greater
// ones the last eight bits matter only in whether one is set.
template <Value V>
V odd_f32_of_integer(const V& x) {
  const auto like = [&x](int64_t number) { return x.like(Number::integer(x.dtype(), number)); };
  const V zero = like(0), rest = x & like(0xff), is_multiple = rest == zero;
  const V sticky = select(is_multiple, zero, like(0x80)), upper = x - rest, far = upper | sticky;
  const V is_exact = absolute(x) < like(1 << 24);
  return cast(select(is_exact, x, far), DType::F32);
}

}  // namespace lathe::scalar::expand
