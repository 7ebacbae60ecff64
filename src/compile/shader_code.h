// The code of an executable for WebGPU.
#pragma once

#include <string>
#include <vector>

#include "lathe/compile/executable.h"
#include "lathe/emit/wgsl/module.h"
#include "lathe/lower/gpu/schedule.h"

namespace lathe::compile {

struct ShaderCode : Code {
  emit_wgsl::Program program;
  std::vector<lower::gpu::ScheduledContraction> contractions;
};

// Of an executable for this target.
inline ShaderCode& shaders(Executable& executable) {
  return static_cast<ShaderCode&>(*executable.code);
}
inline const ShaderCode& shaders(const Executable& executable) {
  return static_cast<const ShaderCode&>(*executable.code);
}

// What a runtime of shaders needs, in one line:
// {"version":1,"target":"webgpu","features":[NAME…],"constantBytes":…,"pageBytes":…,"argumentBytes":…,
// "states":[{"name","dtype","shape","ranges"}…],"shaders":["TEXT"…],"entries":[{"name","inputs":[…],
// "outputs":[…],"scratchBytes":…,"kernels":[{"name","shader":INDEX,"groups":[x,y],"arguments":
// OFFSET,"bindings":[REGION…]}…],"steps":[STEP…]}…]}
// "features" are those of WebGPU that a device must have, if any.
// A region is {"of":"scratch"|"constants"|"arguments"|"state"|"input"|"output","index","offset",
// "bytes"} with "access":"read"|"read_write" where it is bound; its position is the number of the
// binding. The index of scratch or constants, by default 0, is that of a page of pageBytes. A step
// is the index of a kernel, {"times","steps":[…],"condition":REGION} or {"copy":
// {"from":REGION,"to":REGION}}. A kernel with "arguments" is started indirectly, by the three u32
// at this offset of the arguments.
std::string shader_metadata(const Executable& executable);

}  // namespace lathe::compile
