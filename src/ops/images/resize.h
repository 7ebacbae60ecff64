// Resizing of images [n, height, width, c], with the rules of TensorFlow, one axis after
// the other.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Shape;
using graph::Tensor;

// `size` is [height, width]. align_corners: the centers of the corners stay where they are;
// half_pixel: pixels are squares, not points. Both is an error.
Tensor resize_bilinear(Tensor x, const Shape& size, bool align_corners, bool half_pixel);
Tensor resize_nearest(Tensor x, const Shape& size, bool align_corners, bool half_pixel);

}  // namespace lathe::ops
