// Graph -> graph. After it, no contraction that reads its operands many times leaves them: where a
// map does, the operand is copied with zeros around it first, once for all contractions that need
// the same zeros, so that the products need no tests. It runs before packing and lowering,
// because the copy pays only there and other passes would treat it as a view.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::lower::cpu {

graph::Graph pad_operands(graph::Graph graph);

}  // namespace lathe::lower::cpu
