// Leaves loops only what they need.
//
// Before: any graph without dead nodes. After: every loop has only stacks and loop-carried values
// that are used, outside or by such values, and only the operands that they depend on; operands
// that are one number are constants of the body. It runs before the algebra, which works on the
// bodies, too.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph prune_loops(graph::Graph graph);

}  // namespace lathe::opt
