// Small functions of every element, and products of matrices.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// a [..., m, k] · b [..., k, n] -> [..., m, n]; transpose_* exchange the last two axes first.
Tensor mat_mul(Tensor a, Tensor b, bool transpose_a, bool transpose_b);
Tensor cast(Tensor x, graph::DType dtype);
Tensor both(Tensor x, Tensor y);  // of bool
Tensor square(Tensor x);
Tensor reciprocal(Tensor x);  // 1 / x
Tensor rsqrt(Tensor x);       // 1 / sqrt(x)
Tensor squared_difference(Tensor a, Tensor b);
Tensor clip_by_value(Tensor x, float low, float high);
Tensor clip(Tensor x, Tensor low, Tensor high);  // bounds of x's type, broadcast to its shape
Tensor softplus(Tensor x);                       // log(1 + e^x), without overflow

}  // namespace lathe::ops
