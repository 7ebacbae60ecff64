// Computes equal nodes once.
//
// Before: any graph. After: no two nodes that are used are equal (same kind, attributes and
// operands); the copies stay as dead code. It runs once the algebra has brought equal values to
// equal forms.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph eliminate_common_subexpressions(graph::Graph graph);

}  // namespace lathe::opt
