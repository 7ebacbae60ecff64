// Halves of a float and back, spelled on their bits as i32: for targets that only move them.
// The way to binary16 adds a power of two that pushes the digits beyond the last out (M. Dukhan,
// "FP16", 2017).
#pragma once

#include "scalar/spell.h"

namespace lathe::scalar::spell {

// bits: of binary16, an i32 from 0 to 65535.
template <Value V>
V f32_of_half(const V& bits) {
  const V rest = bits & bits.like_i32(0x7fff);
  const V sign = shift_left(bits & bits.like_i32(0x8000), bits.like_i32(16));
  const V moved = shift_left(rest, bits.like_i32(13));
  const V finite = from_bits(moved) * bits.like(0x1p112f);
  const V special = from_bits(moved | bits.like_i32(0x7f800000));
  return turned(select(rest < bits.like_i32(0x7c00), finite, special), sign);
}

template <Value V>
V half_of_f32(const V& x) {
  const V bits = to_bits(x), size = bits & x.like_i32(INT32_MAX);
  const V exponent = size & x.like_i32(0x7f800000), least = x.like_i32(0x38800000);
  const V pushed = select(exponent < least, least, exponent) + x.like_i32(0x07800000);
  const V rounded = to_bits(from_bits(pushed) + absolute(x) * x.like(4.0f));
  const V finite =
      (shift_right(rounded, x.like_i32(13)) & x.like_i32(0x7c00)) + (rounded & x.like_i32(0x0fff));
  const V bounded = select(size < x.like_i32(0x477ff000), finite, x.like_i32(0x7c00));
  const V half = select(x.like_i32(0x7f800000) < size, x.like_i32(0x7e00), bounded);
  return half | (shift_right(bits, x.like_i32(16)) & x.like_i32(0x8000));
}

template <Value V>
V f32_of_bhalf(const V& bits) {
  return from_bits(shift_left(bits, bits.like_i32(16)));
}

template <Value V>
V bhalf_of_f32(const V& x) {
  const V bits = to_bits(x), high = shift_right(bits, x.like_i32(16));
  const V odd = high & x.like_i32(1);
  const V nearest = shift_right(bits + x.like_i32(0x7fff) + odd, x.like_i32(16));
  const V is_nan = x.like_i32(0x7f800000) < (bits & x.like_i32(INT32_MAX));
  return select(is_nan, high | x.like_i32(0x40), nearest) & x.like_i32(0xffff);
}

// scalar::odd_f32.
template <Value V>
V odd_f32(const V& x) {
  const V nearest = to_f32(x), back = cast(nearest, DType::F64);
  const V beyond = to_i32(absolute(x) < absolute(back));
  const V odd = (to_bits(nearest) - beyond) | x.like_i32(1);
  return select(back == x, nearest, from_bits(odd));
}

}  // namespace lathe::scalar::spell
