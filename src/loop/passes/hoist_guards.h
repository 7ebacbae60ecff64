// One test for all lanes of a sum. Before: register tiles that add up loads under guards, zero
// where one fails. After: such a tile is skipped where a guard fails. It runs after
// vectorize_loops.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

//   for u in 8 unroll { sums[u] = add(sums[u], x[i + u if 0 <= i < 4]) }      becomes
//   if 0 <= i < 4 { for u in 8 unroll { sums[u] = add(sums[u], x[i + u]) } }
void hoist_guards(Kernel& kernel);

}  // namespace lathe::loop
