// Computes float16 and bfloat16 in float32: they round where they are stored, and nowhere between.
//
// Before: any graph. After: float16 and bfloat16 are the types of inputs, states and constants, of
// outputs and updates, of Casts that are not loose, and of what moves these (Reshape, Reindex,
// Join, Gather, Select); all other nodes that had these types are f32. So are loop-carried values
// and stacks of loops that are computed. It runs before the passes that look for arithmetic.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph widen_float16(graph::Graph graph);
// The same, but constants of float16 stay: for targets that convert them as fast as they read them.
graph::Graph widen_float16_but_constants(graph::Graph graph);

// The floats that these float16 are.
SharedBytes f32_of_f16(const SharedBytes& float16s);

}  // namespace lathe::opt
