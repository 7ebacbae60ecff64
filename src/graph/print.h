// The text form of a graph: one line per node, output and update. parse() reads it back to the same
// graph.
#pragma once

#include <string>

#include "lathe/graph/graph.h"

namespace lathe::graph {

std::string print(const Graph& graph);

// "[d0,d2*2+d4-1]"
std::string map_string(const AffineMap& map);

}  // namespace lathe::graph
