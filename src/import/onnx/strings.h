// What operators over texts share.
#pragma once

#include "lathe/import/onnx/call.h"

namespace lathe::onnx::rows {

// The texts of operand number i. Error: it is no tensor of strings.
Result<const Content*> texts(const Call& call, size_t i);
// Equal, of two tensors of strings that broadcast: a tensor of truths.
Result<Values> equal_strings(Call& call);
// The text split at white space, however much, at most so many times, without that at the ends.
std::vector<std::string> split_at_space(std::string_view text, int64_t most);

}  // namespace lathe::onnx::rows
