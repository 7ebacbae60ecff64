// Gives the iterations of large kernels to several threads.
// Before: loops as one thread runs them, their vectors and unrolling in place. After: in a kernel
// whose work is worth it, the outermost loops with independent iterations are Parallel and Barriers
// stand between statements that touch what others store. A sum stays in one task, so any number of
// threads computes the same bits. It runs last, because other passes look for Serial loops.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

// In nanoseconds, as work_of guesses them: what a kernel must take one thread to be split.
inline constexpr double kWorthSplitting = 4000;

//   for i in 1000 { y[i] = neg(x[i]) }   becomes
//   for i in 1000 parallel by 250 { y[i] = neg(x[i]) }
void split_work(Kernel& kernel, double worth_splitting = kWorthSplitting);

// All kernels of the entry, if together they keep two threads busy; else none. Returns the most
// threads that have enough to do, at least 1.
int split_work(Entry& entry, double worth_splitting = kWorthSplitting);

}  // namespace lathe::loop
