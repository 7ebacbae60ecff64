// Whether a kernel reads what it wrote: what in-place updates must not, and all else must say.
#pragma once

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// An error where a load of a Global buffer may see what the kernel itself stored there before and
// the kernel does not list the buffer in `rereads`. Looks at addresses, and at guards only as far
// as they narrow a loop around.
Status check_rereads(const Module& module, const Kernel& kernel);

}  // namespace lathe::loop
