// What all functions of the C interface share: the reason of the last failing call, and memory
// that callers hand over.
#pragma once

#include <cstddef>
#include <string>

#include "lathe/base/shared_bytes.h"

namespace lathe::api {

std::string& last_error();

// Bytes in memory from lathe_alloc, which goes with them.
SharedBytes adopt_bytes(void* data, size_t size);

}  // namespace lathe::api
