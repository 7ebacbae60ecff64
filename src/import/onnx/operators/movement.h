// What operators that only move elements share.
#pragma once

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx::rows {

// x as a result of the ONNX type of operand i, which x may store as another type.
Values like_operand(const Call& call, Tensor x, size_t i = 0);
// Operand 0 in another shape of as many elements.
Values reshaped(Call& call, Shape shape);
// Calls the function; string operands are replaced by indices, which it moves instead.
Result<Values> with_strings(Call& call, Result<Values> (*function)(Call& call));
// x with padded axes where these sizes are the total length; axis `first` has the first
// of them.
Result<Tensor> write_rows(Call& call, Tensor x, const LinearIntegers& sizes, size_t first = 0);
// Every axis from the front. Errors: outside, or one twice.
Result<std::vector<int>> axes_of(const Call& call, const std::vector<int64_t>& axes, int rank);

}  // namespace lathe::onnx::rows
