// Elements picked by tensors of indices, and running folds. Negative axes count from the end.
#pragma once

#include "graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// x with the axes of the I32 indices in place of the axis; an index outside takes the nearest
// element.
Tensor gather(Tensor x, Tensor indices, int axis);
// Sum (product) of the elements up to each along the axis; `exclusive`: without it; `reverse`: from
// the end.
Tensor cumsum(Tensor x, int axis, bool exclusive, bool reverse);
Tensor cumprod(Tensor x, int axis, bool exclusive, bool reverse);

}  // namespace lathe::ops
