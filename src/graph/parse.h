// Reads the text form of a graph.
#pragma once

#include <string_view>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

// The graph that print() wrote; errors name the line. Lines may end with a `//` comment. The result
// has passed verify().
Result<Graph> parse(std::string_view text);

}  // namespace lathe::graph
