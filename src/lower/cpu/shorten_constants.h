// Graph -> graph. Large constants of floats that contractions read a few times each, and whose
// numbers all are float16 (or bfloat16) are stored as such: the cost of such a product is
// the time to read them. It runs right before lowering, because other passes compute with
// constants.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::lower::cpu {

graph::Graph shorten_constants(graph::Graph graph);

}  // namespace lathe::lower::cpu
