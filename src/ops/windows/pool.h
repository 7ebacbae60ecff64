// Pools of channels-last tensors [n, spatial…, c] with 1, 2 or 3 spatial axes.
#pragma once

#include "lathe/graph/builder.h"
#include "lathe/ops/windows/window.h"

namespace lathe::ops {

using graph::Shape;
using graph::Tensor;

// The maximum of each window -> [n, out…, c]. A single size applies to all axes. Padding
// is never selected, nor are NaNs, as in TensorFlow.js: -infinity where there is nothing else. The
// gradient goes to the first maximum of a window.
Tensor max_pool(Tensor x, const Shape& size, const WindowOptions& options = {});
// The mean of each window over the elements inside x, as TensorFlow counts them.
Tensor average_pool(Tensor x, const Shape& size, const WindowOptions& options = {});

// Over all spatial axes -> [n, c].
Tensor global_max_pool(Tensor x);
Tensor global_average_pool(Tensor x);

}  // namespace lathe::ops
