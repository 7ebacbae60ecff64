// Moves transposes past their readers, where that only renames axes, so that inverse pairs cancel:
// a channels-first network over operations on channels-last images has transposes only at its
// inputs and outputs. Before: any graph. After: dead nodes may remain.
#pragma once

#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::opt {

// Leaves the graph as it is unless fewer transposes remain.
graph::Graph sink_transposes(graph::Graph graph);

// The same, even if as many remain, for graphs of which a part is compiled first: decides from
// operands only, so that the result for the beginning of a graph does not depend on what follows.
// `tracked` are values that the caller refers to by id, each the last of a part of the graph: they
// are replaced by the values that represent them.
graph::Graph sink_all_transposes(graph::Graph graph, std::vector<graph::Value>& tracked);

}  // namespace lathe::opt
