// Removes nodes that no output and no update needs.
// Before: any graph. After: every node is reachable from an output or update, but Inputs and the
// States of updates stay, because callers hold them by name. It runs last, to sweep up what other
// passes left behind.
#pragma once

#include "graph/graph.h"

namespace lathe::opt {

graph::Graph eliminate_dead_code(graph::Graph graph);

}  // namespace lathe::opt
