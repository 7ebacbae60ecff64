// Graph -> graph. After it, the last dimension of a contraction's output is contiguous in every
// operand that depends on it: operands for which it is not are permuted (copied) first. It runs
// right before lowering, because the copy pays only for contractions, whose elements are read many
// times, and other passes would take it for a view.
#pragma once

#include "graph/graph.h"

namespace lathe::lower {

graph::Graph lay_out_operands(graph::Graph graph);

}  // namespace lathe::lower
