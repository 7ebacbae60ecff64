// Resampling along an axis: each element a sum of a few, at constant indices and with constant
// weights.
#pragma once

#include <utility>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Index along the axis, and weight.
using Taps = std::vector<std::pair<int64_t, double>>;

// x (floats, unless each element is a copy of one) with an axis of
// taps.size() elements. Tap indices are in range.
Tensor resample(Tensor x, int axis, const std::vector<Taps>& taps);

}  // namespace lathe::ops
