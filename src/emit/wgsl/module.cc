#include "lathe/emit/wgsl/module.h"

#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/emit/wgsl/syntax.h"

namespace lathe::emit_wgsl {

namespace {

Status check_types(const loop::Module& module, const Limits& limits) {
  const auto has_type = [&limits](loop::DType dtype) {
    return emit_wgsl::has_type(dtype) && (limits.shader_f16 || !scalar::is_half(dtype));
  };
  const auto reject = [](std::string_view what, std::string_view name, loop::DType dtype) {
    return fail(concat("shaders have no ", scalar::text(dtype), ", the type of ", what, ' ', name,
                       "; cast it to f32 or i32"));
  };
  for (const loop::Buffer& buffer : module.buffers) {
    if (!has_type(buffer.dtype)) return reject("buffer", buffer.name, buffer.dtype);
  }
  for (const loop::Entry& entry : module.entries) {
    for (const loop::Kernel& kernel : entry.kernels) {
      for (const loop::Expr& expr : kernel.exprs) {
        if (!has_type(expr.dtype)) return reject("a value in kernel", kernel.name, expr.dtype);
      }
    }
  }
  return {};
}

// As elements are stored.
SharedBytes stored_bytes(const loop::Buffer& buffer) {
  if (buffer.dtype != loop::DType::Bool) return buffer.data;
  std::vector<std::byte> words(buffer.data.size() * 4);
  for (size_t i = 0; i < buffer.data.size(); ++i) words[i * 4] = buffer.data.data()[i];
  return SharedBytes(std::move(words));
}

// Makes the kernels and steps of one entry.
class EntryEmitter {
 public:
  EntryEmitter(const loop::Entry& entry, const Layout& layout, Program& program,
               uint64_t scratch_bytes)
      : loops_(entry), layout_(layout), program_(program) {
    entry_.name = entry.name;
    entry_.scratch_bytes = scratch_bytes;
  }

  void add(Kernel kernel) {
    entry_.scratch_bytes = std::max(entry_.scratch_bytes, kernel.scratch_end);
    program_.uses_f16 |= kernel.uses_f16;
    const int32_t shader = shader_of(std::move(kernel.code));
    entry_.kernels.push_back({.name = kernel.name,
                              .shader = shader,
                              .groups_x = kernel.groups_x,
                              .groups_y = kernel.groups_y,
                              .bindings = kernel.bindings});
    kernels_.push_back(std::move(kernel));
  }

  // After all kernels.
  Entry finish() {
    entry_.steps = steps_of(loop::steps_of(loops_));
    return std::move(entry_);
  }

 private:
  int32_t shader_of(std::string code) {
    auto& shaders = program_.shaders;
    const auto known = std::ranges::find(shaders, code);
    const auto index = static_cast<int32_t>(known - shaders.begin());
    if (known == shaders.end()) shaders.push_back(std::move(code));
    return index;
  }

  // `around`: the offset of the flag of the innermost condition around the steps, or -1.
  std::vector<Step> steps_of(const std::vector<loop::Step>& loop_steps, int64_t around = -1) {
    std::vector<Step> steps;
    const auto copy = [&](const Copy& each) { steps.push_back({.copy = each}); };
    for (const loop::Step& step : loop_steps) {
      if (step.repeat < 0) {
        const Kernel& kernel = kernels_[step.begin];
        std::ranges::for_each(kernel.before, copy);
        steps.push_back({.kernel = static_cast<int32_t>(step.begin), .copy = {}});
        std::ranges::for_each(kernel.after, copy);
        continue;
      }
      const loop::Repeat& repeat = loops_.repeats[static_cast<size_t>(step.repeat)];
      const bool has_condition = repeat.condition >= 0;
      const int64_t flag = has_condition ? add_argument(1) : around;
      Step& repeated = steps.emplace_back();
      repeated.times = repeat.times;
      repeated.steps = steps_of(loop::steps_of(loops_, step), flag);
      if (has_condition) {
        repeated.condition = layout_[static_cast<size_t>(repeat.condition)];
        guard(repeated, flag, around);
      }
    }
    return steps;
  }

  int64_t add_argument(int words) {
    return static_cast<int64_t>(
        std::exchange(program_.argument_bytes, program_.argument_bytes + 4 * words));
  }

  // Puts a kernel before the steps that sets the arguments of all kernels in them but for those in
  // an inner repeat with a condition: to zeros where the condition is false, or was around it.
  void guard(Step& repeated, int64_t flag, int64_t around) {
    const Region& condition = *repeated.condition;
    std::string code =
        concat("@group(0) @binding(0) var<storage, ",
               condition.holder == Holder::Scratch ? "read_write" : "read",
               "> condition : array<u32>;\n@group(0) @binding(1) var<storage, read_write> "
               "groups : array<u32>;\n\n@compute @workgroup_size(1)\nfn main() {\n"
               "  let runs = condition[0] != 0u");
    if (around >= 0) append(code, " && groups[", around / 4, "] != 0u");
    append(code, ";\n  groups[", flag / 4, "] = select(0u, 1u, runs);\n");
    set_arguments(repeated.steps, code);
    code += "}\n";
    const Region arguments{Holder::Arguments, 0, 0, program_.argument_bytes};
    Step first;
    first.kernel = static_cast<int32_t>(entry_.kernels.size());
    repeated.steps.insert(repeated.steps.begin(), first);
    entry_.kernels.push_back(
        {.name = concat(entry_.name, ".condition", first.kernel - kernels_.size()),
         .shader = shader_of(std::move(code)),
         .groups_x = 1,
         .groups_y = 1,
         .bindings = {{condition, "u32"}, {arguments, "u32", true}}});
  }

  void set_arguments(const std::vector<Step>& steps, std::string& code) {
    for (const Step& step : steps) {
      if (step.is_repeat() && !step.condition) set_arguments(step.steps, code);
      if (!step.is_kernel()) continue;
      Dispatch& kernel = entry_.kernels[static_cast<size_t>(step.kernel)];
      if (kernel.groups_x == 0) continue;
      if (kernel.arguments < 0) kernel.arguments = add_argument(3);
      const int64_t at = kernel.arguments / 4;
      append(code, "  groups[", at, "] = select(0u, ", kernel.groups_x, "u, runs);\n");
      append(code, "  groups[", at + 1, "] = ", kernel.groups_y, "u;\n");
      append(code, "  groups[", at + 2, "] = 1u;\n");
    }
  }

  const loop::Entry& loops_;
  const Layout& layout_;
  Program& program_;
  Entry entry_;
  std::vector<Kernel> kernels_;
};

void write_region(JsonWriter& json, const Region& region) {
  json.member("of", text(region.holder));
  if (is_port(region.holder) || region.index > 0) json.member("index", region.index);
  json.member("offset", region.offset).member("bytes", region.bytes);
}

void write_steps(JsonWriter& json, const std::vector<Step>& steps) {
  json.begin_array();
  for (const Step& step : steps) {
    if (step.is_kernel()) {
      json.value(step.kernel);
      continue;
    }
    json.begin_object();
    if (step.is_repeat()) {
      json.member("times", step.times);
      write_steps(json.key("steps"), step.steps);
      if (step.condition) {
        write_region(json.key("condition").begin_object(), *step.condition);
        json.end_object();
      }
    } else {
      json.key("copy").begin_object();
      write_region(json.key("from").begin_object(), step.copy.from);
      write_region(json.end_object().key("to").begin_object(), step.copy.to);
      json.end_object().end_object();
    }
    json.end_object();
  }
  json.end_array();
}

std::string text(const Region& region) {
  std::string out = text(region.holder);
  if (is_port(region.holder) || region.index > 0) append(out, ' ', region.index);
  return concat(out, '[', region.offset, ", ", region.offset + region.bytes, ')');
}

}  // namespace

Result<Program> emit_program(const loop::Module& module, const lower::MemoryPlan& plan,
                             const Limits& limits) {
  LATHE_TRY(check_types(module, limits));
  const Layout layout = layout_of(module, plan, limits);
  Program program;
  program.constant_bytes = plan.constant_bytes;
  program.page_bytes = page_bytes(limits);
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    const loop::Buffer& buffer = module.buffers[id];
    if (buffer.role != loop::BufferRole::Constant || buffer.data.size() == 0) continue;
    program.constants.push_back({plan.offsets[id], stored_bytes(buffer)});
  }
  for (size_t i = 0; i < module.entries.size(); ++i) {
    const loop::Entry& from = module.entries[i];
    const uint64_t bytes = plan.scratch_of_entries[i];
    EntryEmitter entry(from, layout, program, bytes);
    for (const loop::Kernel& kernel : from.kernels) {
      LATHE_ASSIGN_OR_RETURN(Kernel shader,
                             KernelEmitter(module, layout, kernel, limits, bytes).emit());
      entry.add(std::move(shader));
    }
    program.entries.push_back(entry.finish());
    program.scratch_bytes = std::max(program.scratch_bytes, program.entries.back().scratch_bytes);
  }
  return program;
}

void write_entry(JsonWriter& json, const Entry& entry) {
  json.member("scratchBytes", entry.scratch_bytes);
  json.key("kernels").begin_array();
  for (const Dispatch& kernel : entry.kernels) {
    json.begin_object().member("name", kernel.name).member("shader", kernel.shader);
    json.key("groups").begin_array().value(kernel.groups_x).value(kernel.groups_y).end_array();
    if (kernel.arguments >= 0) json.member("arguments", kernel.arguments);
    json.key("bindings").begin_array();
    for (const Binding& binding : kernel.bindings) {
      json.begin_object();
      write_region(json, binding.region);
      json.member("access", binding.is_read_write() ? "read_write" : "read").end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  write_steps(json.key("steps"), entry.steps);
}

std::string text(const Program& program) {
  std::string out;
  for (const Entry& entry : program.entries) {
    const bool is_plain = std::ranges::all_of(entry.steps, &Step::is_kernel);
    if (!is_plain) {
      JsonWriter steps;
      write_steps(steps, entry.steps);
      append(out, "// ", entry.name, ": ", steps.json(), '\n');
    }
    for (const Dispatch& kernel : entry.kernels) {
      append(out, "// ", kernel.name, ": ", kernel.groups_x, " x ", kernel.groups_y, " groups\n");
      for (int number = 0; const Binding& binding : kernel.bindings) {
        append(out, "// b", number++, ": ", text(binding.region), '\n');
      }
      out += program.shaders[static_cast<size_t>(kernel.shader)];
    }
  }
  return out;
}

}  // namespace lathe::emit_wgsl
