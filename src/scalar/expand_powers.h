// x to the power of y, expanded into f32 arithmetic: 2^(y log2 x) with log2 x as a sum of two
// numbers, as in J.-M. Muller, "Elementary Functions" (3rd edition, 2016), 11.3 and 12.2. Special
// operands as in IEEE 754 and NumPy.
#pragma once

#include "lathe/scalar/expand_exponentials.h"

namespace lathe::scalar::expand {

// high + low; high has 12 bits, so that products of two are exact.
template <Value V>
struct Pair {
  V high, low;
};

// log2 of x > 0. With m = (1 + s) / (1 - s) it is exponent + s (2 / ln 2 + s² tail(s²)).
template <Value V>
Pair<V> log2_pair(const V& x) {
  static constexpr float kTail[] = {0.961796701f, 0.577082872f, 0.411705315f, 0.340239018f};
  constexpr float kTwoOverLn2 = 2.88539004f, kHead = 2.884765625f, kRest = 0.000624456792f;
  const V one = x.like(1.0f);
  const V tiny = x < x.like(std::numeric_limits<float>::min());
  const auto [exponent_bits, m] = parts_of(to_bits(select(tiny, x * x.like(16777216.0f), x)));
  const V exponent = to_f32(exponent_bits) - select(tiny, x.like(24.0f), x.like(0.0f));
  const V f = m - one, sum = m + one, lost = m - (sum - one);
  const V reciprocal = one / sum;
  const V s = head(f * reciprocal), d = head(sum);
  // s + s_rest = f / (sum + lost)
  const V s_rest = (((f - s * d) - s * (sum - d)) - s * lost) * reciprocal;
  const V near = s + s_rest;
  const V cube = mul_add(s * near * x.like(3.0f), s_rest, s * s * s);
  const V tail = mul_add(cube, polynomial(near * near, kTail), s_rest * x.like(kTwoOverLn2));
  const V high = s * x.like(kHead);
  const V total = exponent + high;
  const V rest = mul_add(s, x.like(kRest), tail) + (high - (total - exponent));
  const V rounded = head(total + rest);
  return {rounded, (total - rounded) + rest};
}

// 2^(p.high + p.low) for a small low part.
template <Value V>
V exp2_pair(const Pair<V>& p) {
  static constexpr float kPower[] = {1.0f,          0.693147182f,   0.240226477f,   0.055503305f,
                                     0.0096184453f, 0.00133996503f, 0.000153527275f};
  const V high = clamp(p.high, -160.0f, 160.0f), low = clamp(p.low, -1.0f, 1.0f);
  const V n = nearest(high + low), rest = (high - n) + low;
  // Two factors: results may be subnormal, and 2^128 is no number.
  const V half = nearest(n * high.like(0.5f)), magic = high.like(12582912.0f);
  return polynomial(rest, kPower) * power_of_two(half + magic, 127) *
         power_of_two((n - half) + magic, 127);
}

template <Value V>
V pow(const V& x, const V& y) {
  const V zero = x.like(0.0f), one = x.like(1.0f), infinity = x.like(kInfinity);
  const V size = absolute(x), bound = absolute(y);
  const Pair<V> log2 = log2_pair(size);
  const V y_head = head(y);
  const V low = mul_add(y_head, log2.low, (y - y_head) * (log2.high + log2.low));
  const V finite = exp2_pair(Pair<V>{y_head * log2.high, low});
  // 0, infinity, and numbers to an infinite power.
  const V grows = select(y > zero, size, one / size);
  const V limit = select(grows > one, infinity, select(grows < one, zero, grows));
  const V edge = select(size == zero, one,
                        select(size == infinity, one, select(bound == infinity, one, zero)));
  const V power = select(edge > zero, limit, finite);
  const V is_integer = floor(y) == y;
  const V odd = floor(y * x.like(0.5f)) != y * x.like(0.5f);
  const V sign = select(odd, sign_bit(x), x.like_i32(0));
  const V negative = select(x < zero, select(size < infinity, one, zero), zero);
  const V real =
      select(is_integer, flip_sign(power, sign), select(negative > zero, x.like(kNan), power));
  const V without_nan = select(x == x, select(y == y, real, y), x);
  return select(y == zero, one, select(x == one, one, without_nan));
}

}  // namespace lathe::scalar::expand
