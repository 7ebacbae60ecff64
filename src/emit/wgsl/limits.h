// What a device offers to a shader.
#pragma once

#include <cstdint>

namespace lathe::emit_wgsl {

// By default what every WebGPU device offers.
struct Limits {
  int64_t threads = 256;         // of a workgroup
  int64_t shared_bytes = 16384;  // of its memory
  int64_t storage_buffers = 8;   // that a shader binds
  int64_t binding_bytes = int64_t{1} << 27;
};

}  // namespace lathe::emit_wgsl
