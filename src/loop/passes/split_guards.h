// Loops around guarded loads run without the guards.
// Before: collapsed loops that only store to Global buffers. After: where a guard depends on a
// single loop variable, that loop is divided at the guard's bounds; inside, the load is plain,
// outside it is zero. The outermost loop is not split, for threads: its body is divided by If
// instead. It runs before vectorize_loops, which requires unguarded loads.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

//   for i in 6 { y[i] = x[i - 1 if 0 <= i - 1 < 4] }   inside another loop becomes
//   for i in 1 { y[i] = 0 }  for i in 4 { y[i + 1] = x[i] }  for i in 1 { y[i + 5] = 0 }
void split_guards(Kernel& kernel);

}  // namespace lathe::loop
