// Vectorizes innermost loops over contiguous memory by lanes, as many as the target's
// vectors have.
// Before: collapsed loops. After: a Serial loop that only stores, accesses global memory with
// stride 0 or 1 and has no loop-carried dependence is a loop over blocks of a Vector loop, with a
// Serial loop for the rest. It runs after expand_transcendentals, so that every operation it widens
// has lanes.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

// With 4 lanes
//   for i in 30 { y[i] = neg(x[i]) }   becomes
//   for i.block in 7 { for i.lane in 4 vector { y[4*i.block + i.lane] = … } }
//   for i.rest in 2 { y[i.rest + 28] = … }
void vectorize_loops(Kernel& kernel, int64_t lanes);

}  // namespace lathe::loop
