// Trigonometric functions and their inverses, expanded into f32 arithmetic. Angles are reduced as
// in W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980), with π/2 in
// parts so short that their products by the high or low part of the number of quarter turns are
// exact: no step rounds before it cancels, with fused multiplication or without. Large ones are
// reduced as by M. H. Payne and R. N. Hanek, "Radian Reduction for Trigonometric Functions" (1983).
// Polynomials are minimax fits (Remez).
#pragma once

#include <cstdint>

#include "lathe/scalar/expand_exponentials.h"

namespace lathe::scalar::expand {

// π/2 and π are a number and what its rounding lost.
inline constexpr float kHalfPi = 1.57079637f, kHalfPiLost = -4.37113883e-8f;
inline constexpr float kPi = 3.14159274f, kPiLost = -8.74227766e-8f;

// x = n π/2 + rest for 0 <= x <= kLargestAngle and an integer n, stored in the low bits of `turns`.
template <Value V>
struct ReducedAngle {
  V turns;  // i32
  V rest;
};

template <Value V>
ReducedAngle<V> reduce_by_quarter_turns(const V& x) {
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

// The same for finite x > kLargestAngle: 24 bits of x times the 88 bits of 2/π that count, of which
// 2 bits of the number of quarter turns and 62 of what is left are right but for the last ones.
template <Value V>
[[gnu::noinline]] ReducedAngle<V> reduce_by_all_bits(const V& x) {
  const auto i = [&x](int32_t value) { return x.like_i32(value); };
  const auto bits_from = [&](const V& word, int first) __attribute__((noinline)) {  // no sign
    return shift_right(word, i(first)) & i(INT32_MAX >> (first - 1));
  };
  const V bits = to_bits(x), begin = shift_right(bits, i(23)) - i(127 + 20);
  const V at = shift_right(begin, i(5)), shift = begin & i(31), back = i(31) - shift;
  const V m = (bits & i(0x7fffff)) | i(0x800000);
  const auto word = [&](int k) {
    V found = i(static_cast<int32_t>(kTwoOverPi[k + 3]));
    for (int first = 3; first-- > 0;) {
      found = select(at <= i(first), i(static_cast<int32_t>(kTwoOverPi[k + first])), found);
    }
    return found;
  };
  const auto window = [&](int k) __attribute__((noinline)) {
    return shift_left(word(k), shift) | shift_right(bits_from(word(k + 1), 1), back);
  };
  // Products of m by bytes of the window fit 32 bits, with the carry from the following bytes.
  const V last = window(2);
  V sum = m * (shift_right(last, i(8)) & i(255));
  const auto add = [&](const V& from, int first) __attribute__((noinline)) {
    sum = bits_from(sum, 8) + m * (shift_right(from, i(first)) & i(255));
  };
  add(last, 16);
  add(last, 24);
  const V middle = window(1);
  const V low = bits_from(sum, 8) + m * middle;
  for (int first = 0; first < 32; first += 8) add(middle, first);
  const V high = bits_from(sum, 8) + m * window(0);
  // In units of 2^-30 quarter turns, and of 2^-32 of those; negative ones have their sign flipped.
  const V turns = shift_right(high + i(1 << 29), i(30));
  const V part = high - shift_left(turns, i(30)), sign = shift_right(part, i(31));
  const V size = part ^ sign;
  const V tail = mul_add(to_f32(bits_from(low ^ sign, 1)), x.like(0x1p-31f), to_f32(size & i(63)));
  const V head = to_f32(size & i(-64));
  const V lost = mul_add(head, x.like(kHalfPiLost * 0x1p-30f), tail * x.like(kHalfPi * 0x1p-30f));
  const V rest = mul_add(head, x.like(kHalfPi * 0x1p-30f), lost);
  return {turns, flip_sign(rest, sign & i(INT32_MIN))};
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
// function(turns, rest) of an angle x >= 0; of infinities and NaN it is NaN.
template <Value V, class Function>
V of_angle(const V& x, const Function& function) {
  const ReducedAngle<V> near = reduce_by_quarter_turns(x), far = reduce_by_all_bits(x);
  const V rest = select(x < x.like(kInfinity), far.rest, x.like(kNan));
  return rarely(x > x.like(kLargestAngle), function(far.turns, rest),
                function(near.turns, near.rest));
}

template <Value V>
V sin(const V& x) {
  const V result = of_angle(absolute(x), [](const V& turns, const V& rest) {
    return flip_sign(select(is_odd(turns), cos_near(rest), sin_near(rest)), half_turn(turns));
  });
  return flip_sign(result, sign_bit(x));
}

template <Value V>
V cos(const V& x) {
  return of_angle(absolute(x), [](const V& turns, const V& rest) {
    return flip_sign(select(is_odd(turns), sin_near(rest), cos_near(rest)),
                     half_turn(turns + turns.like_i32(1)));
  });
}

template <Value V>
V tan(const V& x) {
  const V result = of_angle(absolute(x), [](const V& turns, const V& rest) {
    const V s = sin_near(rest), c = cos_near(rest), odd = is_odd(turns);
    return flip_sign(select(odd, c, s) / select(odd, s, c), shift_left(turns, turns.like_i32(31)));
  });
  return flip_sign(result, sign_bit(x));
}

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
  return flip_sign(select(folded, rest, angle), sign_bit(x));
}

template <Value V>
V acos(const V& x) {
  const auto [folded, angle] = arc_of(x);
  const V negative = x < x.like(0.0f), zero = x.like(0.0f);
  const V part = flip_sign(select(folded, angle + angle, -angle), sign_bit(x));
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
  return flip_sign(select(steep, rest, angle), sign_bit(x));
}

// The angle of the point (x, y). Of two zeros or two infinities the ratio is 0 or 1.
template <Value V>
V atan2(const V& y, const V& x) {
  const V zero = x.like(0.0f), width = absolute(x), height = absolute(y);
  const V steep = height > width;
  const V lesser = select(steep, width, height), greater = select(steep, height, width);
  const V equal = select(greater > zero, x.like(1.0f), zero);
  const V angle = atan_near(select(lesser == greater, equal, lesser / greater));
  const V back = sign_bit(x), is_negative_x = back != x.like_i32(0);
  const V outward = flip_sign(angle, select(steep, back ^ x.like_i32(INT32_MIN), back));
  const V base = select(steep, x.like(kHalfPi), select(is_negative_x, x.like(kPi), zero));
  const V lost = select(steep, x.like(kHalfPiLost), select(is_negative_x, x.like(kPiLost), zero));
  return flip_sign((outward + lost) + base, sign_bit(y));
}

}  // namespace lathe::scalar::expand
