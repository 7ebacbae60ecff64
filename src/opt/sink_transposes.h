// Moves transposes past their readers, where that only renames axes, so that inverse pairs cancel:
// a channels-first network over operations on channels-last images has transposes only at its
// inputs and outputs. Decides from operands only, so that the result for the beginning of a graph
// does not depend on what follows. Before: any graph. After: dead nodes may remain. Runs where such
// graphs are built, before all other passes.
#pragma once

#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::opt {

// `tracked` are values that the caller refers to by id, each the last of a part of the graph: they
// are replaced by the values that represent them.
graph::Graph sink_transposes(graph::Graph graph, std::vector<graph::Value>& tracked);
graph::Graph sink_transposes(graph::Graph graph);

}  // namespace lathe::opt
