// Loop programs -> WebGPU: one compute shader a kernel, and the table of what to bind, what
// to start and how often.
#pragma once

#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/emit/wgsl/kernel.h"
#include "lathe/loop/loop.h"

namespace lathe::emit_wgsl {

// The kernels of an entry, run in order.
struct Entry {
  std::string name;
  std::vector<Kernel> kernels;
};

struct Program {
  Layout layout;
  std::vector<Entry> entries;
};

Result<Program> emit_program(const loop::Module& module, const Limits& limits = {});

// All that a runtime needs:
// {"version":2,"memories":[ELEMENTS,…],"buffers":[{"name","dtype","role","elements","memory","at",
// "data"}],"states":[{"name","shape","buffer"}],"entries":[{"name","inputs":[…],"outputs":[…],
// "steps":[KERNEL,…,{"times","steps":[…]}],"kernels":[{"name","groups":[x,y],"memories":[…],
// "code"}]}]}. A memory has four bytes an element; `at` counts elements; `data` is that of
// constants, in hexadecimal digits, as elements are stored in the loop module (bool is one byte).
std::string json(const Program& program, const loop::Module& module);

// The shaders one after the other, for people; where some are repeated, the steps of their entry.
std::string text(const Program& program, const loop::Module& module);

}  // namespace lathe::emit_wgsl
