// Reads an operation and its non-tensor arguments from words. Independent of graphs.
#pragma once

#include <vector>

#include "lathe/api/word_reader.h"
#include "lathe/ops/operations.h"

namespace lathe::api {

Result<const ops::Operation*> read_operation(WordReader& words);
// The number of tensors that follow, checked against the operation.
Result<size_t> read_operand_count(const ops::Operation& operation, WordReader& words);
// The parameters that are no tensors, up to the end; those left out have the row's defaults.
Result<std::vector<ops::Argument>> read_arguments(const ops::Operation& operation,
                                                  WordReader& words);

}  // namespace lathe::api
