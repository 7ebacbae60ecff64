// Which register buffers a target with SIMD can allocate as vectors.
#pragma once

#include <vector>

#include "lathe/base/table.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// By index in kernel.registers: whether a store or load addresses the buffer by the variable of a
// Vector loop. Such a buffer consists of vectors, aligned to their number of lanes; all others are
// accessed one element at a time.
Table<BufferId, bool> vector_registers(const Kernel& kernel);

}  // namespace lathe::loop
