// Whether the iterations of a loop stay out of each other's way.
#pragma once

#include "loop/loop.h"

namespace lathe::loop {

// Whether a lane may read or write an element that another lane of the same four iterations writes.
// Looks at addresses only, guards aside; the loop holds Stores and Unroll loops.
bool lanes_meet(const Kernel& kernel, const Stmt& loop);

// The same of any two iterations, and of Global buffers alone.
bool iterations_meet(const Kernel& kernel, const Stmt& loop);

}  // namespace lathe::loop
