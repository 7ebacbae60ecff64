// Folds along axes. Axes that are left out mean all of them; negative ones count from the end;
// keepdims retains them with size 1.
#pragma once

#include <optional>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;
using Axes = std::optional<std::vector<int>>;

Tensor reduce_sum(Tensor x, const Axes& axes, bool keepdims);  // bool counts as 0 and 1
Tensor reduce_mean(Tensor x, const Axes& axes, bool keepdims);
Tensor reduce_prod(Tensor x, const Axes& axes, bool keepdims);
Tensor reduce_max(Tensor x, const Axes& axes, bool keepdims);
Tensor reduce_min(Tensor x, const Axes& axes, bool keepdims);
Tensor reduce_all(Tensor x, const Axes& axes, bool keepdims);
Tensor reduce_any(Tensor x, const Axes& axes, bool keepdims);
// log(sum of e^x), shifted by the maximum so that nothing overflows.
Tensor log_sum_exp(Tensor x, const Axes& axes, bool keepdims);
// I32 position of the first maximum (minimum) along the axis, which disappears and must have
// elements. As in TensorFlow.js a NaN counts only at the first position: nothing exceeds it there,
// and it exceeds nothing.
Tensor argmax(Tensor x, int axis = -1);
Tensor argmin(Tensor x, int axis = -1);
// I32 position of the first true along the axis, which disappears.
Tensor first_true_index(Tensor hit, int axis);

}  // namespace lathe::ops
