// Replaces nodes whose operands are all constants by constants.
//
// Before: any graph. After: no such node is left whose result is a splat or has up to 4096
// elements, nor one that multiplies a constant by a view of another; constants of equal elements
// are splats. Values are those of the graph evaluator.
// It runs before simplify_algebra, whose rules look for constants. Dead operands stay.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph fold_constants(graph::Graph graph);

}  // namespace lathe::opt
