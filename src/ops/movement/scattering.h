// Scatters of elements to the positions in tensors of indices.
#pragma once

#include <cstdint>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// What becomes of an element that updates go to. Where several go to one element Replace selects
// the last of them.
enum class Merge : uint8_t { Replace, Add, Mul, Max, Min };

// x, where the element with indices[i] instead of i along the axis is merged with updates[i]. The
// indices are as in `gather_nd`; they have the shape of the updates, no axis but this one longer
// than of x.
Tensor scatter_along(Tensor x, Tensor indices, Tensor updates, int axis, Merge merge);
// x [s1…sk, rest…] where the part at each of the indices [n…, k] meets one of updates [n…, rest…].
Tensor scatter_nd(Tensor x, Tensor indices, Tensor updates, Merge merge);

}  // namespace lathe::ops
