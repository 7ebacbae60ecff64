// Checks every invariant of a graph: what passes may assume and must keep.
#pragma once

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

// Operands come before users and are as many as the kind wants; dtype and shape are what infer()
// gives; attributes that mean nothing for the kind are empty; names of inputs and outputs together,
// and of states, are unique; updates write each state at most once, with its dtype and shape. Pages
// look at names, outputs and updates alone: their nodes come from the builder, which infers them.
Status verify(const Graph& graph);

}  // namespace lathe::graph
