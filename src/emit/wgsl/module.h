// Loop programs -> WebGPU: one compute shader a kernel, and what to bind, what to start and how
// often.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lathe/base/json_writer.h"
#include "lathe/base/result.h"
#include "lathe/base/shared_bytes.h"
#include "lathe/emit/wgsl/kernel.h"
#include "lathe/loop/loop.h"

namespace lathe::emit_wgsl {

// A start of a shader.
struct Dispatch {
  std::string name;    // of the kernel
  int32_t shader = 0;  // index in Program::shaders
  uint32_t groups_x = 0, groups_y = 0;
  std::vector<Binding> bindings;  // of group 0
  // Where a condition decides: the offset of its groups in the arguments (three u32), or -1.
  int64_t arguments = -1;
};

// A kernel, a copy between kernels, or steps that are repeated `times` times. With a condition
// until that bool is zero before them: their first kernel reads it, and lets the others start or
// not, so a host looks at the condition only to end early.
struct Step {
  int32_t kernel = -1;
  Copy copy;
  int64_t times = 0;
  std::vector<Step> steps = {};
  std::optional<Region> condition = {};

  bool is_kernel() const { return kernel >= 0; }
  bool is_repeat() const { return !steps.empty(); }
};

struct Entry {
  std::string name;
  std::vector<Dispatch> kernels;
  std::vector<Step> steps;
  uint64_t scratch_bytes = 0;
};

// Bytes of the region of constants.
struct Segment {
  uint64_t offset;
  SharedBytes bytes;
};

struct Program {
  std::vector<std::string> shaders;  // distinct
  bool uses_f16 = false;
  std::vector<Entry> entries;
  std::vector<Segment> constants;
  // Temporaries, at most of an entry, and constants, each in pages of which all but the last have
  // page_bytes.
  uint64_t scratch_bytes = 0, constant_bytes = 0, page_bytes = 0;
  uint64_t argument_bytes = 0;
};

// `plan`: by plan_relocatable_memory with storage_of these limits. Errors: a type that shaders do
// not have; a kernel beyond the limits.
Result<Program> emit_program(const loop::Module& module, const lower::MemoryPlan& plan,
                             const Limits& limits = {});

// The members "scratchBytes", "kernels" and "steps" of an entry.
void write_entry(JsonWriter& json, const Entry& entry);

// The shaders one after the other, for people, and what each binds.
std::string text(const Program& program);

}  // namespace lathe::emit_wgsl
