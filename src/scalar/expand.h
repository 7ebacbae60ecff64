// The values that expansions of operations compute with: V is a number or an expression.
// V has `like(Number)`, `like(float)` (an f32 constant), `like_i32(int32_t)` (an i32 constant) and
// `dtype()`;
// argument-dependent lookup finds apply(Op, V…) and cast(V, DType).
#pragma once

#include <concepts>

#include "lathe/scalar/op.h"

namespace lathe::scalar::expand {

template <class V>
concept Value = requires(const V& x) {
  { x.like(Number()) } -> std::same_as<V>;
  { x.like(0.0f) } -> std::same_as<V>;
  { x.like_i32(0) } -> std::same_as<V>;
  { x.dtype() } -> std::same_as<DType>;
};

// Whether x + y - y is computed as it is written. Compilers of shaders may make it x.
template <Value V>
bool keeps_order(const V& x) {
  if constexpr (requires { x.keeps_order; }) return x.keeps_order;
  return true;
}

#define UNARY(name_, op_)     \
  template <Value V>          \
  V name_(const V& x) {       \
    return apply(Op::op_, x); \
  }
#define BINARY(name_, op_)          \
  template <Value V>                \
  V name_(const V& x, const V& y) { \
    return apply(Op::op_, x, y);    \
  }
#define TERNARY(name_, op_)                     \
  template <Value V>                            \
  V name_(const V& x, const V& y, const V& z) { \
    return apply(Op::op_, x, y, z);             \
  }
BINARY(operator+, Add)
BINARY(operator-, Sub)
BINARY(operator*, Mul)
BINARY(operator/, Div)
BINARY(operator<, Lt)
BINARY(operator<=, Le)
BINARY(operator>, Gt)
BINARY(operator>=, Ge)
BINARY(operator==, Eq)
BINARY(operator!=, Ne)
BINARY(operator&, BitAnd)
BINARY(operator|, BitOr)
BINARY(operator^, BitXor)
BINARY(shift_left, ShiftLeft)
BINARY(shift_right, ShiftRight)
UNARY(operator-, Neg)
UNARY(absolute, Abs)
UNARY(sqrt, Sqrt)
UNARY(nearest, Nearest)
UNARY(trunc, Trunc)
UNARY(floor, Floor)
UNARY(to_bits, ToBits)
UNARY(from_bits, FromBits)
TERNARY(mul_add, MulAdd)
TERNARY(select, Select)
#undef UNARY
#undef BINARY
#undef TERNARY

// select(condition, x, y) where x is expensive and rarely chosen: a V that has rarely(x, y) may
// branch around it.
template <Value V>
V rarely(const V& condition, const V& x, const V& y) {
  if constexpr (requires { condition.rarely(x, y); }) {
    return condition.rarely(x, y);
  } else {
    return select(condition, x, y);
  }
}

template <Value V>
V to_f32(const V& x) {
  return cast(x, DType::F32);
}

template <Value V>
V to_i32(const V& x) {
  return cast(x, DType::I32);
}

// A constant of x's dtype.
template <Value V>
V constant(const V& x, int32_t value) {
  return x.like(Number::integer(x.dtype(), value));
}

// c[0] + c[1] x + … + c[n-1] x^(n-1).
template <Value V, int n>
V polynomial(const V& x, const float (&c)[n]) {
  V sum = x.like(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) sum = mul_add(sum, x, x.like(c[i]));
  return sum;
}

// lowest if x < lowest, highest if x > highest; NaN stays.
template <Value V>
V clamp(const V& x, float lowest, float highest) {
  const V above = select(x < x.like(lowest), x.like(lowest), x);
  return select(x.like(highest) < above, x.like(highest), above);
}

// The sign bit of an f32, and an f32 whose sign is flipped where that bit is set.
template <Value V>
V sign_bit(const V& x) {
  return to_bits(x) & x.like_i32(INT32_MIN);
}
template <Value V>
V flip_sign(const V& x, const V& sign) {
  return from_bits(to_bits(x) ^ sign);
}

// The first 12 bits of the significand; what is left has 12, too, so products of either are exact.
template <Value V>
V head(const V& x) {
  return from_bits(to_bits(x) & x.like_i32(-4096));
}

}  // namespace lathe::scalar::expand
