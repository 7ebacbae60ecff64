// Moves transposes behind what reads them, where that only renames axes, so that two that undo each
// other meet and vanish: a network written for channels-first pictures over operations on
// channels-last ones keeps those at its ends. Decides from operands alone, so that the beginning of
// a graph gives the same whatever follows. Wants nothing; leaves nodes that nobody reads. Runs
// where such graphs are made, ahead of all other passes.
#pragma once

#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::opt {

// `kept` are values that the caller knows by number, each the last of a part of the graph: they
// become those that stand for them.
graph::Graph sink_transposes(graph::Graph graph, std::vector<graph::Value>& kept);
graph::Graph sink_transposes(graph::Graph graph);

}  // namespace lathe::opt
