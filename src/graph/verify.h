// Checks every invariant of a graph: what passes may assume and must preserve.
#pragma once

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

// Operands come before users and are as many as the kind has; dtype and shape are what infer()
// returns; attributes that the kind does not use are empty; names of inputs and outputs together,
// and of states, are unique; updates write each state no more than once, with its dtype and shape.
// Pages check names, outputs and updates only: their nodes come from the builder, which infers
// them.
Status verify(const Graph& graph);

}  // namespace lathe::graph
