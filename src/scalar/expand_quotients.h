// Remainders and quotients rounded down, and the tests and signs of numbers, as branch-free
// arithmetic. What divides by zero has a result and never traps.
#pragma once

#include <vector>

#include "lathe/scalar/expand_exponentials.h"

namespace lathe::scalar::expand {

template <Value V>
struct Division {
  V quotient, remainder;  // quotient · y + remainder = x
};

// The quotient rounded toward zero and the exact remainder; where the quotient was rounded up
// before truncation, the remainder has the other sign.
template <Value V>
Division<V> truncating_division(const V& x, const V& y) {
  const V quotient = trunc(x / y);
  const V q = head(quotient), d = head(y);
  const V q_rest = quotient - q, d_rest = y - d;
  const V remainder = ((x - q * d) - q * d_rest) - q_rest * d - q_rest * d_rest;
  return {quotient, select(quotient == x.like(0.0f), x, remainder)};
}

// Whether the remainder has the opposite sign of y.
template <Value V>
V is_across(const V& remainder, const V& y) {
  const V zero = constant(y, 0);
  const V other = select(y < zero, -remainder, remainder);
  return other < zero;
}

// f32 quotients approach the quotient of integers: after the first up to 2^8 remain, after the
// second one. Everything else wraps.
template <Value V>
Division<V> i32_division(const V& x, const V& y) {
  const V zero = x.like_i32(0), one = x.like_i32(1), divisor = to_f32(y);
  const V first = to_i32(to_f32(x) / divisor);
  V remainder = x - first * y;
  const V second = to_i32(to_f32(remainder) / divisor);
  remainder = remainder - second * y;
  V quotient = first + second;
  const auto step = [&](const V& condition, const V& by, const V& addend) {
    quotient = select(condition, quotient + by, quotient);
    remainder = select(condition, remainder + addend, remainder);
  };
  const V positive = y > zero;
  step(select(positive, remainder, zero - remainder) < zero, zero - one, y);
  step(select(positive, remainder >= y, y >= remainder), one, zero - y);
  const V by_zero = y == zero;
  return {select(by_zero, zero, quotient), select(by_zero, zero, remainder)};
}

// Of integer types with a division instruction, which truncates toward zero.
template <Value V>
Division<V> integer_division(const V& x, const V& y) {
  const V zero = constant(x, 0), quotient = x / y;
  const V remainder = select(y == zero, zero, x - quotient * y);
  const V across = is_across(remainder, y);
  return {select(across, quotient - constant(x, 1), quotient),
          select(across, remainder + y, remainder)};
}

template <Value V>
Division<V> division_of(const V& x, const V& y) {
  return x.dtype() == DType::I32 ? i32_division(x, y) : integer_division(x, y);
}

// x by y as in C but for the sign, whatever the quotient: by y 2^(23 i), from the largest i that
// any quotient needs; each round reduces it by a factor of 2^24.
template <Value V>
[[gnu::noinline]] V remainder_of_any(const V& x, const V& y) {
  constexpr int kRounds = 13;
  std::vector<V> divisors = {y};
  while (divisors.size() < kRounds) divisors.push_back(divisors.back() * x.like(8388608.0f));
  V rest = x;
  for (size_t i = divisors.size(); i-- > 0;)
    rest = truncating_division(rest, divisors[i]).remainder;
  return rest;
}

// Two rounds: each reduces the quotient by 2^24, so the result is exact below kLargestQuotient.
template <Value V>
V mod(const V& x, const V& y) {
  if (is_integer(x.dtype())) return division_of(x, y).remainder;
  const V once = truncating_division(x, y).remainder,
          twice = truncating_division(once, y).remainder;
  const V rest = rarely(absolute(x / y) >= x.like(kLargestQuotient), remainder_of_any(x, y), twice);
  return select(is_across(rest, y), rest + y, rest);
}

template <Value V>
V floor_div(const V& x, const V& y) {
  if (is_integer(x.dtype())) return division_of(x, y).quotient;
  const auto [quotient, remainder] = truncating_division(x, y);
  return select(is_across(remainder, y), quotient - x.like(1.0f), quotient);
}

template <Value V>
V sign(const V& x) {
  const V zero = constant(x, 0);
  return select(x > zero, constant(x, 1), select(x < zero, constant(x, -1), x));
}

// By bits: shader compilers may assume that NaN and infinities are absent.
template <Value V>
V magnitude_bits(const V& x) {
  return to_bits(x) & x.like_i32(INT32_MAX);
}
template <Value V>
V infinite_bits(const V& x) {
  return x.like_i32(0x7f800000);
}

}  // namespace lathe::scalar::expand
