// Halves become their bits: what remains are u16, and casts are spelled in arithmetic on i32.
//
// Before: halves are moved and cast alone (widen_types). After: there are none. Ports keep their
// names; the pipeline gives their buffers the types back that they had.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph spell_halves(graph::Graph graph);

}  // namespace lathe::opt
