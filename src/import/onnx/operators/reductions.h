// Reductions along axes.
#pragma once

#include <functional>
#include <vector>

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx {

// x reduced by `op` along axes; padding is masked, see padded_axes.h.
Tensor reduced(Call& call, graph::Op op, Tensor x, const std::vector<int>& axes, bool keep_dims);
// `softmax` of x along an axis; padding is masked.
Tensor softmax_along(Call& call, Tensor x, int axis, const std::function<Tensor(Tensor)>& softmax);

}  // namespace lathe::onnx
