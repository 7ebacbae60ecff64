// Distributes the iterations of large kernels over threads.
// Before: single-threaded loops, vectorized and unrolled. After: in a kernel
// whose work is worth it, the outermost loops with independent iterations are Parallel and Barriers
// separate statements that access what others store. A sum stays in one task, so any number of
// threads computes the same bits. It runs last, because other passes look for Serial loops.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

// The minimum single-threaded time of a kernel to be split, in nanoseconds as work_of estimates
// them.
inline constexpr double kWorthSplitting = 4000;

//   for i in 1000 { y[i] = neg(x[i]) }   becomes
//   for i in 1000 parallel by 250 { y[i] = neg(x[i]) }
void split_work(Kernel& kernel, double worth_splitting = kWorthSplitting);

// All kernels of the entry, if together they occupy two threads; else none. Returns the maximum
// useful number of threads, at least 1.
int split_work(Entry& entry, double worth_splitting = kWorthSplitting);

}  // namespace lathe::loop
