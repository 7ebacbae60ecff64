// The exponential, the logarithm and what is made of them, spelled in f32. Polynomials are minimax
// fits (Lawson weights, Remez exchange). `select(x < a, a, x)` is f32x4.pmax(x, a),
// `select(a < x, a, x)` is f32x4.pmin(x, a).
#pragma once

#include <limits>

#include "scalar/spell.h"

namespace lathe::scalar::spell {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// x = n ln 2 + rest with |rest| <= ln 2 / 2 and an integer n, kept in the low bits of `shifted`.
// Negated: -x = n ln 2 - rest.
template <Value V>
struct Reduced {
  V shifted, rest;
};

template <bool negated = false, Value V>
Reduced<V> reduce_by_ln2(const V& x) {
  constexpr float kSign = negated ? -1.0f : 1.0f;
  const V magic = x.like(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = mul_add(x, x.like(kSign * 1.44269504f), magic);
  const V n = shifted - magic;
  const V rest = mul_add(n, x.like(kSign * -0.693359375f), x);
  return {shifted, mul_add(n, x.like(kSign * 2.12194440e-4f), rest)};
}

// 2^(n + bias - 127) for the n of a reduction.
template <Value V>
V power_of_two(const V& shifted, int bias) {
  return from_bits(shift_left(to_bits(shifted), shifted.like_i32(23)) +
                   shifted.like_i32(bias << 23));
}

// 2^(n + bias - 126) e^rest of a reduction; the factor 2 in front lets 2^(n-1) span all finite
// results.
template <bool negated = false, Value V>
V exp_of(const Reduced<V>& reduced, int bias) {
  constexpr float kSign = negated ? -1.0f : 1.0f;
  static constexpr float kTwiceExp[] = {2.0f,           kSign * 1.999999411f,
                                        0.9999829229f,  kSign * 0.3333528016f,
                                        0.08379678124f, kSign * 0.01658045664f};
  return polynomial(reduced.rest, kTwiceExp) * power_of_two(reduced.shifted, bias);
}

// e^x, or e^-x. Below 2^-125.5 the result is 0.
template <bool negated = false, Value V>
V exp(const V& x) {
  const V bounded = negated ? clamp(x, -89.0f, 87.3f) : clamp(x, -87.3f, 89.0f);
  return exp_of<negated>(reduce_by_ln2<negated>(bounded), 126);
}

// e^rest - 1, exact to the last bits near 0.
template <Value V>
V exp_minus_one(const V& rest) {
  static constexpr float kRest[] = {0.5000000062f, 0.1666654254f, 0.04166628065f, 0.008366644016f,
                                    0.001394655311f};
  return mul_add(polynomial(rest, kRest) * rest, rest, rest);
}

// (e^2x - 1) / (e^2x - 1 + 2), whose numerator is exact to the last bits near 0.
template <Value V>
V tanh(const V& x) {
  const V bounded = clamp(x, -9.1f, 9.1f);
  const Reduced<V> reduced = reduce_by_ln2(bounded + bounded);
  const V rest_minus_one = exp_minus_one(reduced.rest);
  const V scale = power_of_two(reduced.shifted, 127);
  const V minus_one = mul_add(rest_minus_one, scale, scale - x.like(1.0f));
  return minus_one / (minus_one + x.like(2.0f));
}

template <Value V>
V sigmoid(const V& x) {
  const V one = x.like(1.0f);
  return one / (one + exp<true>(x));
}

// ln of 2^exponent (1 + f) for f in [sqrt 1/2 - 1, sqrt 2 - 1); `correct` adds to what is small.
template <Value V, class Correct>
V log_of(const V& exponent, const V& f, const Correct& correct) {
  static constexpr float kRest[] = {0.3333391076f, -0.2500133703f, 0.1996306297f, -0.1657758541f,
                                    0.1491477848f, -0.1426748109f, 0.08700393862f};
  const V square = f * f;
  V tail = polynomial(f, kRest) * f;
  tail = correct(mul_add(exponent, f.like(-2.12194440e-4f), tail * square));
  const V sum = mul_add(square, f.like(-0.5f), tail) + f;
  return mul_add(exponent, f.like(0.693359375f), sum);
}

// The logarithm of x where `finite` is it for positive finite x.
template <Value V>
V log_everywhere(const V& x, const V& finite) {
  const V outside = select(x < x.like(0.0f), x.like(kNan), x.like(-kInfinity));
  const V positive = select(x > x.like(0.0f), finite, outside);
  return select(x < x.like(kInfinity), positive, x);
}

// Bits of a positive normal number = 2^exponent m with m in [sqrt 1/2, sqrt 2).
template <Value V>
struct Parts {
  V exponent;  // i32
  V m;
};

template <Value V>
Parts<V> parts_of(const V& bits) {
  const V exponent = shift_right(bits - bits.like_i32(0x3f3504f3), bits.like_i32(23));
  return {exponent, from_bits(bits - shift_left(exponent, bits.like_i32(23)))};
}

template <Value V>
V log(const V& x) {
  const V tiny = x < x.like(std::numeric_limits<float>::min());
  const auto [whole, m] = parts_of(to_bits(select(tiny, x * x.like(8388608.0f), x)));
  const V exponent = to_f32(whole) - select(tiny, x.like(23.0f), x.like(0.0f));
  const V f = m - x.like(1.0f);
  return log_everywhere(x, log_of(exponent, f, [](const V& tail) { return tail; }));
}

}  // namespace lathe::scalar::spell
