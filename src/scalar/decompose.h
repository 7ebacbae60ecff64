// Exp, Log, Tanh and Sigmoid in f32, spelled as branch-free arithmetic for targets that have no
// such instruction. The argument may be any type V that stands for an f32 value: a number, an
// expression.
//
// V has `like(float)` (an f32 constant), `like_i32(int)` (an i32 constant), the operators
// + - * / < >, and, found by argument-dependent lookup, mul_add, select, to_bits, from_bits,
// shift_left, shift_right and to_f32 (i32 -> f32). Polynomials are minimax fits (Lawson weights).
// Errors stay within 4 ulp; results below the smallest normal number may be 0.
// `select(x < a, a, x)` is f32x4.pmax(x, a), `select(a < x, a, x)` is f32x4.pmin(x, a).
#pragma once

#include <limits>

#include "base/check.h"
#include "scalar/op.h"

namespace lathe::scalar {

// True for the operations that decompose() spells.
constexpr bool is_decomposable(Op op) {
  return op == Op::Exp || op == Op::Log || op == Op::Tanh || op == Op::Sigmoid;
}

// c[0] + c[1] x + … + c[n-1] x^(n-1).
template <class V, int n>
V polynomial(const V& x, const float (&c)[n]) {
  V sum = x.like(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) sum = mul_add(sum, x, x.like(c[i]));
  return sum;
}

// lowest if x < lowest, highest if x > highest; NaN stays.
template <class V>
V clamp(const V& x, float lowest, float highest) {
  const V above = select(x < x.like(lowest), x.like(lowest), x);
  return select(x.like(highest) < above, x.like(highest), above);
}

// x = n ln 2 + rest with |rest| <= ln 2 / 2 and an integer n, kept in the low bits of `shifted`.
// Negated: -x = n ln 2 - rest.
template <class V>
struct Reduced {
  V shifted, rest;
};

template <bool negated = false, class V>
Reduced<V> reduce_by_ln2(const V& x) {
  constexpr float kSign = negated ? -1.0f : 1.0f;
  const V magic = x.like(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = mul_add(x, x.like(kSign * 1.44269504f), magic);
  const V n = shifted - magic;
  const V rest = mul_add(n, x.like(kSign * -0.693359375f), x);
  return {shifted, mul_add(n, x.like(kSign * 2.12194440e-4f), rest)};
}

// 2^(n + bias - 127) for the n of a reduction.
template <class V>
V power_of_two(const V& shifted, int bias) {
  return from_bits(shift_left(to_bits(shifted), shifted.like_i32(23)) +
                   shifted.like_i32(bias << 23));
}

// e^x, or e^-x.
template <bool negated = false, class V>
V decompose_exp(const V& x) {
  constexpr float kSign = negated ? -1.0f : 1.0f;
  // 2 e^rest; the factor 2 lets 2^(n-1) span all finite results.
  static constexpr float kTwiceExp[] = {2.0f,           kSign * 1.999999411f,
                                        0.9999829229f,  kSign * 0.3333528016f,
                                        0.08379678124f, kSign * 0.01658045664f};
  const V bounded = negated ? clamp(x, -89.0f, 87.3f) : clamp(x, -87.3f, 89.0f);
  const Reduced<V> reduced = reduce_by_ln2<negated>(bounded);
  return polynomial(reduced.rest, kTwiceExp) * power_of_two(reduced.shifted, 126);
}

template <class V>
V decompose_log(const V& x) {
  static constexpr float kRest[] = {0.3333391076f, -0.2500133703f, 0.1996306297f, -0.1657758541f,
                                    0.1491477848f, -0.1426748109f, 0.08700393862f};
  const float infinity = std::numeric_limits<float>::infinity();
  const V tiny = x < x.like(std::numeric_limits<float>::min());
  const V bits = to_bits(select(tiny, x * x.like(8388608.0f), x));
  // x = 2^exponent m with m in [sqrt 1/2, sqrt 2).
  const V exponent_bits = shift_right(bits - x.like_i32(0x3f3504f3), x.like_i32(23));
  const V m = from_bits(bits - shift_left(exponent_bits, x.like_i32(23)));
  const V exponent = to_f32(exponent_bits) - select(tiny, x.like(23.0f), x.like(0.0f));
  const V f = m - x.like(1.0f);
  const V square = f * f;
  V tail = polynomial(f, kRest) * f;
  tail = mul_add(exponent, x.like(-2.12194440e-4f), tail * square);
  const V sum = mul_add(square, x.like(-0.5f), tail) + f;
  const V finite = mul_add(exponent, x.like(0.693359375f), sum);
  const V outside =
      select(x < x.like(0.0f), x.like(std::numeric_limits<float>::quiet_NaN()), x.like(-infinity));
  const V positive = select(x > x.like(0.0f), finite, outside);
  return select(x < x.like(infinity), positive, x);
}

// (e^2x - 1) / (e^2x - 1 + 2), whose numerator is exact to the last bits near 0.
template <class V>
V decompose_tanh(const V& x) {
  static constexpr float kRest[] = {0.5000000062f, 0.1666654254f, 0.04166628065f, 0.008366644016f,
                                    0.001394655311f};
  const V bounded = clamp(x, -9.1f, 9.1f);
  const Reduced<V> reduced = reduce_by_ln2(bounded + bounded);
  const V rest = reduced.rest;
  const V rest_minus_one = mul_add(polynomial(rest, kRest) * rest, rest, rest);
  const V scale = power_of_two(reduced.shifted, 127);
  const V minus_one = mul_add(rest_minus_one, scale, scale - x.like(1.0f));
  return minus_one / (minus_one + x.like(2.0f));
}

template <class V>
V decompose_sigmoid(const V& x) {
  const V one = x.like(1.0f);
  return one / (one + decompose_exp<true>(x));
}

template <class V>
V decompose(Op op, const V& x) {
  CHECK(is_decomposable(op));
  if (op == Op::Exp) return decompose_exp(x);
  if (op == Op::Log) return decompose_log(x);
  if (op == Op::Tanh) return decompose_tanh(x);
  return decompose_sigmoid(x);
}

}  // namespace lathe::scalar
