// Leaves loops only what they need.
//
// Before: any graph without dead nodes. After: every loop stacks and carries only what is used,
// outside or by what it carries on, and takes only the operands that this needs; operands that are
// one number are constants of the body. It runs before the algebra, which works on the bodies, too.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph prune_loops(graph::Graph graph);

}  // namespace lathe::opt
