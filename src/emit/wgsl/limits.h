// What a group of threads may have.
#pragma once

#include <cstdint>

namespace lathe::emit_wgsl {

// By default what every WebGPU device offers.
struct Limits {
  int64_t threads = 256;
  int64_t shared_bytes = 16384;
};

}  // namespace lathe::emit_wgsl
