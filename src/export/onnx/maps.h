// Scalar operations and conversions as ONNX operators, element by element. Knows tensors, no graph.
#pragma once

#include <span>

#include "lathe/export/onnx/writer.h"
#include "lathe/scalar/op.h"

namespace lathe::onnx_export {

// op over operands that broadcast, of types of arithmetic (but what Select chooses). Integers by
// zero, and types that runtimes do not support, are expanded by the definitions in the table of
// operations. Errors: operations without an operator in ONNX.
Result<Tensor> map(Writer& writer, scalar::Op op, std::span<const Tensor> operands);

// As scalar::cast; floats outside the range of i32 and i64 become what the runtime makes of them.
Tensor convert(Writer& writer, const Tensor& x, DType dtype);

// The condition ? x : y, of any type.
Tensor select(Writer& writer, const Tensor& condition, const Tensor& x, const Tensor& y);

}  // namespace lathe::onnx_export
