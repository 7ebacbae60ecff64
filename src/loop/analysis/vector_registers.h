// Which register buffers a target with SIMD can allocate as vectors.
#pragma once

#include <vector>

#include "lathe/base/table.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// By index in kernel.registers: the lanes of the Vector loops by whose variables stores or loads
// address the buffer; it consists of vectors of so many, aligned to their number. 0: there are
// none, the buffer is accessed one element at a time.
Table<BufferId, int64_t> vector_registers(const Kernel& kernel);

}  // namespace lathe::loop
