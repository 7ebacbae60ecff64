// Products of matrices as NumPy has them.
#pragma once

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx {

// In the type that both are computed in. Vectors are rows on the left and columns on the right;
// that axis is removed from the result.
Result<Tensor> product(Call& call, Tensor x, Tensor y);
// Values [b, h, m, e] weighted by [b, h, n, m]; padding is masked.
Tensor weighted_sum(Call& call, Tensor weights, Tensor v);
// The conjunction of two masks; either may be absent.
Tensor mask_and(Tensor x, Tensor y);

namespace rows {

// Applies the activation of FusedConv or FusedGemm to x.
Result<Tensor> activated(Call& call, Tensor x);

}  // namespace rows

}  // namespace lathe::onnx
