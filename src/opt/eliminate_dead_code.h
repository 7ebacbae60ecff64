// Removes nodes that no output and no update needs.
//
// Before: any graph. After: every node is an Input, a State or is reached from an output or an
// update. Inputs and states stay: they are what the module shows, whether an entry reads them or
// not. It runs last, because other passes leave the nodes that they replaced, and first, to spare
// them work.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph eliminate_dead_code(graph::Graph graph);

}  // namespace lathe::opt
