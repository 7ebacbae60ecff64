// Convolutions, pools and normalization with the arguments of TensorFlow.js, for operations.def:
// strides and dilations have one element for each spatial axis, or one for all.
#pragma once

#include "lathe/ops/windows/conv.h"
#include "lathe/ops/windows/pool.h"

namespace lathe::ops {

Tensor convolution(Tensor x, Tensor filter, const Shape& strides, Padding padding,
                   const Shape& dilations);
Tensor depthwise(Tensor x, Tensor filter, const Shape& strides, Padding padding,
                 const Shape& dilations);
// `shape` is the full shape of the result.
Tensor transposed(Tensor x, Tensor filter, const Shape& shape, const Shape& strides,
                  Padding padding);
Tensor pool_max(Tensor x, const Shape& size, const Shape& strides, Padding padding);
Tensor pool_average(Tensor x, const Shape& size, const Shape& strides, Padding padding);
Tensor normalize(Tensor x, Tensor mean, Tensor variance, Tensor offset, Tensor scale,
                 float epsilon);

}  // namespace lathe::ops
