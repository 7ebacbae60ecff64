// Products of matrices as NumPy has them.
#pragma once

#include "lathe/import/onnx/call.h"

namespace lathe::onnx {

// In the type that both are computed in. Vectors are rows on the left and columns on the right, and
// lose that axis again.
Result<Tensor> product(Call& call, Tensor x, Tensor y);
// Values [b, h, m, e] weighted by [b, h, n, m], of rows those that count.
Tensor weighted(Call& call, Tensor weights, Tensor v);
// What both masks let count; one of them may not be there.
Tensor both(Tensor x, Tensor y);

namespace rows {

// x behind the activation that FusedConv or FusedGemm names.
Result<Tensor> activated(Call& call, Tensor x);

}  // namespace rows

}  // namespace lathe::onnx
