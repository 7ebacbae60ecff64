// Normalizations: batch (along the last axis) and layer.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

struct Moments {
  Tensor mean, variance;  // the variance divides by the count
};
// Over these axes, which have size 1 in the result or are removed.
Moments moments(Tensor x, const std::vector<int>& axes, bool keepdims = false);

// (x - mean) / sqrt(variance + epsilon) * scale + offset, where the four are [c] of x [.., c]. An
// invalid scale or offset is left out. With constant statistics this is one multiply-add. Ioffe &
// Szegedy, "Batch normalization", 2015.
Tensor batch_norm(Tensor x, Moments statistics, Tensor scale, Tensor offset, float epsilon);

// The same with the moments of every row along the last axis. Ba, Kiros, Hinton, "Layer
// normalization", 2016.
Tensor layer_norm(Tensor x, Tensor scale, Tensor offset, float epsilon);

}  // namespace lathe::ops
