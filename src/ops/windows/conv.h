// Convolutions of channels-last tensors [n, spatial…, c] with 1, 2 or 3 spatial axes; each is one
// contraction. As in TensorFlow the filter is not flipped.
#pragma once

#include "lathe/graph/builder.h"
#include "lathe/ops/windows/window.h"

namespace lathe::ops {

using graph::Shape;
using graph::Tensor;

struct ConvOptions {
  WindowOptions window = {};
  int64_t groups = 1;  // channels of group g of the result see those of group g of x only
};

// filter [k…, ci / groups, co] -> [n, out…, co].
Tensor conv(Tensor x, Tensor filter, const ConvOptions& options = {});

// filter [k…, c, m] -> [n, out…, c * m]: every channel is convolved separately with m filters.
Tensor depthwise_conv(Tensor x, Tensor filter, const WindowOptions& options = {});

// The gradient of conv by its input: filter [k…, co, ci] -> [n, out…, co]. `out` is the spatial
// sizes; empty: the smallest that a convolution with these options brings back to x's.
Tensor conv_transpose(Tensor x, Tensor filter, const WindowOptions& options = {}, Shape out = {});

}  // namespace lathe::ops
