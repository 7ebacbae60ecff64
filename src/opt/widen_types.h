// Writes what types shorter than those of arithmetic mean: casts around the operations on them.
//
// Before: any graph. After: Map (but Select, which chooses), Reduce, Contract, Scan and Scatter are
// on types of arithmetic, as scalar::computed has them; results are cast to the type
// they had. Indices are i32, inside their axis where they were longer; Sort is of i32 or f32. It
// runs after the other passes, which see the types of the program.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph widen_types(graph::Graph graph);

}  // namespace lathe::opt
