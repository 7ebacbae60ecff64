// Each is a few tensor operations.
#include "lathe/ops/elementwise/arithmetic.h"

#include <array>

namespace lathe::ops {

Tensor mat_mul(Tensor a, Tensor b, bool transpose_a, bool transpose_b) {
  return a.builder->matmul(a, b, transpose_a, transpose_b);
}

Tensor cast(Tensor x, graph::DType dtype) { return x.builder->cast(x, dtype); }

Tensor both(Tensor x, Tensor y) { return x.builder->map(scalar::Op::And, std::array{x, y}); }

Tensor square(Tensor x) { return x * x; }

Tensor reciprocal(Tensor x) { return 1.0f / x; }

Tensor rsqrt(Tensor x) { return 1.0f / sqrt(x); }

Tensor squared_difference(Tensor a, Tensor b) { return square(a - b); }

Tensor clip_by_value(Tensor x, float low, float high) {
  if (!x.valid()) return x;
  const auto bound = [&x](float value) {
    return x.builder->full({}, scalar::Number::from(x.dtype(), value));
  };
  return clip(x, bound(low), bound(high));
}

// At the bounds the slope is 1.
Tensor clip(Tensor x, Tensor low, Tensor high) {
  if (!x.valid()) return x;
  graph::Builder& builder = *x.builder;
  return builder.exclusive(minimum(builder.exclusive(maximum(x, low)), high));
}

// At 0 the maximum must have slope 1, as the absolute value has: x goes first.
Tensor softplus(Tensor x) { return maximum(x, zero(x)) + log1p(exp(-absolute(x))); }

}  // namespace lathe::ops
