// What a kernel may not contain on targets that count in 32 bits.
#pragma once

#include "lathe/base/result.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// Fails where a loop runs, or an index or guard reaches, 2^31 or more. Addresses need no test: they
// stay inside buffers, and buffers inside memory.
Status check_index_width(const Kernel& kernel);

}  // namespace lathe::loop
