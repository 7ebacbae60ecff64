// What operators that only move elements share.
#pragma once

#include "lathe/import/onnx/call.h"

namespace lathe::onnx::rows {

// The results of a tensor of operand number i's type, which may be one that x only holds.
Values like_operand(const Call& call, Tensor x, size_t i = 0);
// Operand 0 in another shape of as many elements.
Values reshaped(Call& call, Shape shape);
// What the function gives where operands may be strings: it moves their numbers instead.
Result<Values> with_strings(Call& call, Result<Values> (*function)(Call& call));
// x, which has these sizes, with rows where they are the number of all; axis `first` has the first
// of them.
Result<Tensor> with_rows(Call& call, Tensor x, const Counted& sizes, size_t first = 0);
// Every axis from the front. Errors: outside, or one twice.
Result<std::vector<int>> axes_of(const Call& call, const std::vector<int64_t>& given, int rank);

}  // namespace lathe::onnx::rows
