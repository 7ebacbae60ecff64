// Reads from words which operation is meant and what it takes beside tensors. Knows no graph.
#pragma once

#include <vector>

#include "lathe/api/word_reader.h"
#include "lathe/ops/operations.h"

namespace lathe::api {

Result<const ops::Operation*> read_operation(WordReader& words);
// How many tensors follow, as many as the operation takes.
Result<size_t> read_operand_count(const ops::Operation& operation, WordReader& words);
// The parameters that are no tensors, up to the end; those left out have the row's defaults.
Result<std::vector<ops::Argument>> read_arguments(const ops::Operation& operation,
                                                  WordReader& words);

}  // namespace lathe::api
