// Helpers of operators on strings, which are evaluated at trace time: their operands must be
// constants.
#pragma once

#include "lathe/import/onnx/trace/call.h"

namespace lathe::onnx::rows {

// The strings of operand i. Error: it is no constant tensor of strings.
Result<const Content*> strings_operand(const Call& call, size_t i);
// Elementwise equality of broadcast string tensors; returns Bool.
Result<Values> equal_strings(Call& call);
// Splits at runs of white space, up to `max_splits` times, and strips both ends.
std::vector<std::string> split_at_space(std::string_view text, int64_t max_splits);

}  // namespace lathe::onnx::rows
