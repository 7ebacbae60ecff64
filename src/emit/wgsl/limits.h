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
  // Of the smallest subgroup; 0: there are no subgroup operations, with the number of each subgroup
  // (WGSL's `subgroup_id`).
  int64_t subgroup_threads = 0;
  bool shader_f16 = false;  // the feature of this name
};

}  // namespace lathe::emit_wgsl
