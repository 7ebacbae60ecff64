// The exponential, the logarithm and functions composed of them, expanded into f32 arithmetic.
// Polynomials are minimax fits (Lawson weights, Remez exchange). `select(x < a, a, x)` is
// f32x4.pmax(x, a), `select(a < x, a, x)` is f32x4.pmin(x, a).
#pragma once

#include <limits>

#include "lathe/scalar/expand.h"

namespace lathe::scalar::expand {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// x = n ln 2 + rest with |rest| <= ln 2 / 2 and an integer n, stored in the low bits of `shifted`.
// Negated: -x = n ln 2 - rest.
template <Value V>
struct Reduced {
  V shifted, rest;
};

template <bool negated = false, Value V>
Reduced<V> reduce_by_ln2(const V& x) {
  constexpr float kSign = negated ? -1.0f : 1.0f;
  const V magic = x.like(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const V factor = x.like(kSign * 1.44269504f);
  const V shifted = keeps_order(x) ? mul_add(x, factor, magic) : nearest(x * factor) + magic;
  const V n = keeps_order(x) ? shifted - magic : nearest(x * factor);
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

// 2^n (e^rest - 1) + (2^n - 1), from half of each: 2^128 is no number.
template <Value V>
V expm1(const V& x) {
  const Reduced<V> reduced = reduce_by_ln2(clamp(x, -60.0f, 89.0f));
  const V half = power_of_two(reduced.shifted, 126);
  const V result = mul_add(exp_minus_one(reduced.rest), half, half - x.like(0.5f));
  return result + result;
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

// e^x / 2 for x >= 0, finite as long as sinh and cosh are.
template <Value V>
V half_exp(const V& x) {
  return exp_of(reduce_by_ln2(select(x.like(90.0f) < x, x.like(90.0f), x)), 125);
}

template <Value V>
V cosh(const V& x) {
  const V half = half_exp(absolute(x));
  return half + x.like(0.25f) / half;
}

// Below 1 the two terms would cancel.
template <Value V>
V sinh(const V& x) {
  static constexpr float kTail[] = {0.166667163f, 0.00833028369f, 0.000203721953f};
  const V size = absolute(x), square = x * x, half = half_exp(size);
  const V near = mul_add(polynomial(square, kTail) * square, size, size);
  const V result = select(size < x.like(1.0f), near, half - x.like(0.25f) / half);
  return flip_sign(result, sign_bit(x));
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
  const auto [exponent_bits, m] = parts_of(to_bits(select(tiny, x * x.like(8388608.0f), x)));
  const V exponent = to_f32(exponent_bits) - select(tiny, x.like(23.0f), x.like(0.0f));
  const V f = m - x.like(1.0f);
  return log_everywhere(x, log_of(exponent, f, [](const V& tail) { return tail; }));
}

// ln y + (what y = 1 + x lost) / y.
template <Value V>
V log1p(const V& x) {
  const V one = x.like(1.0f);
  const V y = one + x, rounded = y - one;
  const V lost = (one - (y - rounded)) + (x - rounded);
  const auto [exponent_bits, m] = parts_of(to_bits(y));
  const V finite =
      log_of(to_f32(exponent_bits), m - one, [&](const V& tail) { return tail + lost / y; });
  return select(x == x.like(0.0f), x, log_everywhere(y, finite));
}

// ln(|x| + sqrt(x² + 1)) as log1p of a form that is accurate for small x; from 2^28 on it is ln
// 2|x|.
template <Value V>
V asinh(const V& x) {
  const V one = x.like(1.0f), size = absolute(x), square = x * x;
  const V large = size > x.like(268435456.0f);
  const V above = select(large, size, size + square / (one + sqrt(square + one)));
  const V result = log1p(above) + select(large, x.like(0.693147181f), x.like(0.0f));
  return flip_sign(result, sign_bit(x));
}

template <Value V>
V acosh(const V& x) {
  const V t = x - x.like(1.0f);
  const V large = x > x.like(268435456.0f);
  const V above = select(large, x, t + sqrt(t * (t + x.like(2.0f))));
  const V result = log1p(above) + select(large, x.like(0.693147181f), x.like(0.0f));
  return select(t >= x.like(0.0f), result, x.like(kNan));
}

// ln((1 + x) / (1 - x)) / 2.
template <Value V>
V atanh(const V& x) {
  const V size = absolute(x);
  const V result = x.like(0.5f) * log1p((size + size) / (x.like(1.0f) - size));
  return flip_sign(result, sign_bit(x));
}

// x + x P(x²) below 1, 1 - e^Q(x) above; from 4 on erf rounds to 1.
template <Value V>
V erf(const V& x) {
  static constexpr float kNear[] = {0.128379121f,   -0.37612325f,   0.112801798f,
                                    -0.0267113093f, 0.00491754944f, -0.000563141482f};
  static constexpr float kFar[] = {-0.00261925161f, -1.11762094f,  -0.654240429f,
                                   -0.0887994617f,  0.0148317581f, -0.00115720986f};
  const V one = x.like(1.0f), size = absolute(x);
  const V near = mul_add(polynomial(x * x, kNear), size, size);
  const V bounded = select(x.like(4.0f) < size, x.like(4.0f), size);
  const V far = one - exp_of(reduce_by_ln2(polynomial(bounded, kFar)), 126);
  return flip_sign(select(size < one, near, far), sign_bit(x));
}

}  // namespace lathe::scalar::expand
