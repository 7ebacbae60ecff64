// Lowers float16 and bfloat16 to their bits (u16); casts become arithmetic on i32.
//
// Before: such values are only moved and cast (widen_types). After: there are none. Ports have the
// same names; the pipeline restores the original types of their buffers.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph lower_float16(graph::Graph graph);
// The same of bfloat16 only: for targets that have float16.
graph::Graph lower_bfloat16(graph::Graph graph);

}  // namespace lathe::opt
