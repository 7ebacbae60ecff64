// Read-after-write dependences inside a kernel: inplace updates must have none, all other kernels
// must declare them.
#pragma once

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// An error where a load of a Global buffer may read an element that the kernel itself stored before
// and the kernel does not list the buffer in `rereads`. Considers addresses, and guards only as far
// as they narrow an enclosing loop.
Status check_read_after_write(const Module& module, const Kernel& kernel);

}  // namespace lathe::loop
