// Evaluates kernels that only copy constants at compile time.
// Before: lowered loops, not yet scheduled for lanes. After: no kernel copies from a single
// constant to a Temporary that nothing else writes: that buffer is a constant itself; constants
// without readers are empty. It runs right after lowering, which packs the constant operands of
// contractions with such kernels.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

void fold_copies(Module& module);

}  // namespace lathe::loop
