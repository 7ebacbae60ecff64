// Totals of a standalone module over many batches, and the entries that reset them.
#pragma once

#include <string_view>

#include "lathe/base/result.h"
#include "lathe/graph/builder.h"

namespace lathe::nn {

inline constexpr std::string_view kTotals = "totals/";

// Adds the outputs of the entry so far to the states "totals/ENTRY/OUTPUT": losses times `rows`,
// other sums as they are; and the rows to "totals/ENTRY/rows".
void add_totals(graph::Builder& builder, graph::Tensor rows);

// The entry "reset_ENTRY": the totals of this entry become zero.
Result<graph::Graph> build_reset(const graph::Graph& entry);

}  // namespace lathe::nn
