// Trigonometric functions and their inverses, spelled in f32. Angles are reduced as in W. J. Cody
// and W. Waite, "Software Manual for the Elementary Functions" (1980), with π/2 in parts so short
// that their products by either half of the number of quarter turns are exact: no step rounds
// before it cancels, with fused multiplication or without. Polynomials are minimax fits (Remez).
#pragma once

#include "lathe/scalar/spell_exponentials.h"

namespace lathe::scalar::spell {

// x = n π/2 + rest for 0 <= x <= kLargestAngle and an integer n, kept in the low bits of `turns`.
template <Value V>
struct Turned {
  V turns;  // i32
  V rest;
};

template <Value V>
Turned<V> reduce_by_quarter_turns(const V& x) {
  static constexpr float kParts[] = {1.5703125f, 4.83751296997e-4f, 7.54953362048e-8f,
                                     2.56328291925e-12f};  // of π/2, 12 bits each
  const V n = nearest(x * x.like(0.636619772f));
  const V high = head(n), low = n - high;
  V rest = x;
  for (const float part : kParts) {
    rest = mul_add(high, x.like(-part), rest);
    rest = mul_add(low, x.like(-part), rest);
  }
  rest = mul_add(n, x.like(-6.12323426e-17f), rest);
  return {to_bits(n + x.like(12582912.0f)), rest};  // 1.5 * 2^23: the integer is in the low bits
}

// sin and cos of |rest| <= 0.86.
template <Value V>
V sin_near(const V& rest) {
  static constexpr float kTail[] = {-0.166666672f, 0.00833332632f, -0.000198384543f,
                                    2.71064937e-06f};
  const V square = rest * rest;
  return mul_add(polynomial(square, kTail) * square, rest, rest);
}
template <Value V>
V cos_near(const V& rest) {
  static constexpr float kTail[] = {0.0416666307f, -0.00138866156f, 2.43589911e-05f};
  const V square = rest * rest;
  return mul_add(polynomial(square, kTail) * square, square,
                 mul_add(square, rest.like(-0.5f), rest.like(1.0f)));
}

template <Value V>
V is_odd(const V& turns) {
  return (turns & turns.like_i32(1)) != turns.like_i32(0);
}
// The bit of 2 in turns as a sign.
template <Value V>
V half_turn(const V& turns) {
  return shift_left(turns & turns.like_i32(2), turns.like_i32(30));
}
// Beyond it, for infinities and NaN: NaN.
template <Value V>
V known_angle(const V& x, const V& result) {
  return select(absolute(x) <= x.like(kLargestAngle), result, x.like(kNan));
}

template <Value V>
V sin(const V& x) {
  const auto [turns, rest] = reduce_by_quarter_turns(absolute(x));
  const V result = select(is_odd(turns), cos_near(rest), sin_near(rest));
  return known_angle(x, turned(result, half_turn(turns) ^ sign_bit(x)));
}

template <Value V>
V cos(const V& x) {
  const auto [turns, rest] = reduce_by_quarter_turns(absolute(x));
  const V result = select(is_odd(turns), sin_near(rest), cos_near(rest));
  return known_angle(x, turned(result, half_turn(turns + turns.like_i32(1))));
}

template <Value V>
V tan(const V& x) {
  const auto [turns, rest] = reduce_by_quarter_turns(absolute(x));
  const V s = sin_near(rest), c = cos_near(rest), odd = is_odd(turns);
  const V result = select(odd, c, s) / select(odd, s, c);
  const V sign = shift_left(turns, turns.like_i32(31));
  return known_angle(x, turned(result, sign ^ sign_bit(x)));
}

// π/2 and π are a number and what its rounding lost.
inline constexpr float kHalfPi = 1.57079637f, kHalfPiLost = -4.37113883e-8f;
inline constexpr float kPi = 3.14159274f, kPiLost = -8.74227766e-8f;

// asin of |x| up to 1/2, and of sqrt((1 - |x|) / 2) above: asin |x| is π/2 less twice that.
template <Value V>
struct Arc {
  V folded;  // bool: above 1/2
  V angle;
};

template <Value V>
Arc<V> arc_of(const V& x) {
  static constexpr float kTail[] = {0.166667521f, 0.0749529749f, 0.0454703718f, 0.0241795313f,
                                    0.0421662889f};
  const V half = x.like(0.5f), size = absolute(x);
  const V folded = size > half;
  const V square = select(folded, mul_add(size, x.like(-0.5f), half), size * size);
  const V root = select(folded, sqrt(square), size);
  return {folded, mul_add(polynomial(square, kTail) * square, root, root)};
}

template <Value V>
V asin(const V& x) {
  const auto [folded, angle] = arc_of(x);
  const V rest = mul_add(angle, x.like(-2.0f), x.like(kHalfPiLost)) + x.like(kHalfPi);
  return turned(select(folded, rest, angle), sign_bit(x));
}

template <Value V>
V acos(const V& x) {
  const auto [folded, angle] = arc_of(x);
  const V negative = x < x.like(0.0f), zero = x.like(0.0f);
  const V part = turned(select(folded, angle + angle, -angle), sign_bit(x));
  const V base = select(negative, x.like(kPi), zero),
          lost = select(negative, x.like(kPiLost), zero);
  return (part + select(folded, lost, x.like(kHalfPiLost))) + select(folded, base, x.like(kHalfPi));
}

// atan of a ratio in [0, 1].
template <Value V>
V atan_near(const V& ratio) {
  static constexpr float kTail[] = {-0.333331525f,  0.199937731f,  -0.142110527f,  0.106659956f,
                                    -0.0755219534f, 0.0432116389f, -0.0163677931f, 0.00292065903f};
  const V square = ratio * ratio;
  return mul_add(polynomial(square, kTail) * square, ratio, ratio);
}

template <Value V>
V atan(const V& x) {
  const V one = x.like(1.0f), size = absolute(x);
  const V steep = size > one;
  const V angle = atan_near(select(steep, one, size) / select(steep, size, one));
  const V rest = (x.like(kHalfPiLost) - angle) + x.like(kHalfPi);
  return turned(select(steep, rest, angle), sign_bit(x));
}

// The angle of the point (x, y). Of two zeros or two infinities the ratio is 0 or 1.
template <Value V>
V atan2(const V& y, const V& x) {
  const V zero = x.like(0.0f), width = absolute(x), height = absolute(y);
  const V steep = height > width;
  const V least = select(steep, width, height), most = select(steep, height, width);
  const V equal = select(most > zero, x.like(1.0f), zero);
  const V angle = atan_near(select(least == most, equal, least / most));
  const V back = sign_bit(x), behind = back != x.like_i32(0);
  const V outward = turned(angle, select(steep, back ^ x.like_i32(INT32_MIN), back));
  const V base = select(steep, x.like(kHalfPi), select(behind, x.like(kPi), zero));
  const V lost = select(steep, x.like(kHalfPiLost), select(behind, x.like(kPiLost), zero));
  return turned((outward + lost) + base, sign_bit(y));
}

}  // namespace lathe::scalar::spell
