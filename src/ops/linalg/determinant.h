// Determinants of square matrices.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

// x [..., n, n] of floats -> [...], by Gaussian elimination with partial pivoting.
graph::Tensor determinant(graph::Tensor x);
// Of the same shape, by Gauss-Jordan elimination with the largest pivots. Of singular matrices it
// has infinities or NaNs.
graph::Tensor inverse(graph::Tensor x);

}  // namespace lathe::ops
