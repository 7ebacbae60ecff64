// Other elements along an axis: each a sum of a few, at constant places and with constant weights.
#pragma once

#include <utility>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Place along the axis, and weight.
using Taps = std::vector<std::pair<int64_t, double>>;

// The axis of x, which must be of floats unless each element is one as it stands, with as many
// elements as there are lists of taps. Their places are inside.
Tensor resample(Tensor x, int axis, const std::vector<Taps>& taps);

}  // namespace lathe::ops
