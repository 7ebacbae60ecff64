// Decides loops whose condition is a constant.
//
// Before: any graph. After: a loop that never runs is replaced by its initial values, and by zeros
// where it stacks; one that always runs has no condition, and is its body where that is a single
// step.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph fold_conditions(graph::Graph graph);

}  // namespace lathe::opt
