// Graph -> graph. Large constants of floats that contractions read a few times each, and whose
// numbers all are halves (or the upper halves of floats), lie as such: what such a product takes is
// the time to read them. It runs right before lowering, because other passes compute with
// constants.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::lower::cpu {

graph::Graph shorten_constants(graph::Graph graph);

}  // namespace lathe::lower::cpu
