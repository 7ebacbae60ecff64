// Makes loop nests as shallow as their addresses allow.
// Before: any kernel. After: no loop has extent 1, and no two perfectly nested Serial loops walk
// memory as one loop would. It runs right after lowering, so that later passes meet long innermost
// loops.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

//   for i in 64 { for j in 10 { y[10*i + j] = … } }   becomes   for j in 640 { y[j] = … }
void collapse_loops(Kernel& kernel);

}  // namespace lathe::loop
