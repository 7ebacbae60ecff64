// Distributes independent iterations over threads.
// Before: collapsed loops. After: the parallel loops around a kernel are Grid loops, the innermost
// of them split into groups of threads. A kernel without such loops stays as it is: one thread runs
// it, and so does one whose lowering did this already.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

inline constexpr int64_t kGroupThreads = 64;

//   for i in 100 { y[i] = neg(x[i]) }   becomes
//   for i.block in 2 grid { for i.thread in 64 group {
//     if 0 <= 64*i.block + i.thread < 100 { y[64*i.block + i.thread] = … } } }
void bind_grid(Kernel& kernel, int64_t threads = kGroupThreads);

}  // namespace lathe::loop
