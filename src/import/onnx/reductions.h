// Folding along axes, for the operators that do.
#pragma once

#include <functional>
#include <vector>

#include "lathe/import/onnx/call.h"

namespace lathe::onnx {

// x folded by `op` along axes, of rows those that count; see counted_rows.h.
Tensor folded(Call& call, graph::Op op, Tensor x, const std::vector<int>& axes, bool keep);
// What `softmax` makes of x along an axis, of rows of those that count.
Tensor weights_along(Call& call, Tensor x, int axis, const std::function<Tensor(Tensor)>& softmax);

}  // namespace lathe::onnx
