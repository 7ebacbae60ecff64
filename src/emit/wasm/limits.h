// What a kernel may not contain because WebAssembly counts in 32 bits.
#pragma once

#include "base/result.h"
#include "loop/loop.h"

namespace lathe::emit {

// Fails where a loop runs, or an index or guard reaches, 2^31 or more. Addresses need no test: they
// stay inside buffers, and buffers inside memory.
Status check_limits(const loop::Kernel& kernel);

}  // namespace lathe::emit
