// Removes nodes that no output and no update needs.
//
// Before: any graph. After: every node is an Input or is reached from an output or an update.
// Inputs stay, as they are the signature of the entry point. It runs last, because other passes
// leave the nodes that they replaced, and first, to spare them work.
#pragma once

#include "graph/graph.h"

namespace lathe::opt {

graph::Graph eliminate_dead_code(graph::Graph graph);

}  // namespace lathe::opt
