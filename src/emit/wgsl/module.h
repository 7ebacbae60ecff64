// Loop programs -> WebGPU: one compute shader a kernel, and the table that says what to bind and
// start.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "emit/wgsl/kernel.h"
#include "loop/loop.h"

namespace lathe::emit::wgsl {

// The kernels of an entry, run in order.
struct Entry {
  std::string name;
  std::vector<Kernel> kernels;
};

struct Program {
  std::vector<Entry> entries;
};

Result<Program> emit_program(const loop::Module& module);

// All that a runtime needs:
// {"version":1,"buffers":[{"name","dtype","role","elements","data"}],"states":[{"name","shape",
// "buffer"}],"entries":[{"name","inputs":[…],"outputs":[…],"kernels":[{"name","groups":[x,y],
// "buffers":[…],"code"}]}]}. A buffer holds four bytes an element; `data` is that of constants, in
// hexadecimal digits, as elements lie in the loop module (bool is one byte).
std::string json(const Program& program, const loop::Module& module);

// The shaders one after the other, for people.
std::string text(const Program& program);

}  // namespace lathe::emit::wgsl
