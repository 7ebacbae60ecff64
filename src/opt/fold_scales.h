// Moves constant factors of sums of products into their constant operands, so that normalizations
// after convolutions and products cost nothing.
//
// Before: constants are not folded yet, so their views show what they vary along. After: where a
// contraction with a constant operand, used once, was multiplied or divided by constants that vary
// only along what indexes that operand, the operand is multiplied instead, through views and
// additions, and constants added to it are summed first. Products are rounded in another order.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph fold_scales(graph::Graph graph);

}  // namespace lathe::opt
