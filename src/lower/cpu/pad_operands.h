// Graph -> graph. After it, no contraction that reads its operands many times leaves them: where a
// map does, the operand is copied with zeros around it first, once for all contractions that want
// the same zeros, so that the products need no tests. It runs before lay_out_operands and lowering,
// because the copy pays only there and other passes would take it for a view.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::lower::cpu {

graph::Graph pad_operands(graph::Graph graph);

}  // namespace lathe::lower::cpu
