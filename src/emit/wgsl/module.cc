#include "lathe/emit/wgsl/module.h"

#include <algorithm>
#include <map>

#include "lathe/base/text.h"
#include "lathe/emit/wgsl/syntax.h"

namespace lathe::emit_wgsl {

namespace {

Status check_types(const loop::Module& module) {
  const auto reject = [](std::string_view what, std::string_view name, loop::DType dtype) {
    return fail(concat("shaders have no ", scalar::text(dtype), ", the type of ", what, ' ', name,
                       "; cast it to f32 or i32"));
  };
  for (const loop::Buffer& buffer : module.buffers) {
    if (!has_type(buffer.dtype)) return reject("buffer", buffer.name, buffer.dtype);
  }
  for (const loop::Entry& entry : module.entries) {
    for (const loop::Repeat& repeat : entry.repeats) {
      if (repeat.condition < 0) continue;
      return fail(
          concat("entry '", entry.name,
                 "': shaders are started from outside, which does not see what a loop or a "
                 "branch depends on; compute both branches and select, or use a loop with a "
                 "fixed number of steps"));
    }
    for (const loop::Kernel& kernel : entry.kernels) {
      for (const loop::Expr& expr : kernel.exprs) {
        if (!has_type(expr.dtype)) return reject("a value in kernel", kernel.name, expr.dtype);
      }
    }
  }
  return {};
}

// As elements are stored: four bytes each.
SharedBytes stored_bytes(const loop::Buffer& buffer) {
  const auto bytes = static_cast<size_t>(scalar::size_of(buffer.dtype));
  if (bytes == 4) return buffer.data;
  std::vector<std::byte> words(buffer.data.size() / bytes * 4);
  for (size_t i = 0; i < words.size() / 4; ++i) {
    const auto element = scalar::load_element(buffer.dtype, buffer.data.data() + i * bytes);
    scalar::store_element(words.data() + i * 4, loop::Number::integer(loop::DType::I32, element.i));
  }
  return SharedBytes(std::move(words));
}

// The steps that a loop step becomes.
std::vector<Step> steps_of(const loop::Entry& entry, const std::vector<Kernel>& kernels,
                           const std::vector<loop::Step>& loop_steps) {
  std::vector<Step> steps;
  const auto copy = [&](const Copy& each) { steps.push_back({.copy = each}); };
  for (const loop::Step& step : loop_steps) {
    if (step.repeat < 0) {
      const Kernel& kernel = kernels[step.begin];
      std::ranges::for_each(kernel.before, copy);
      steps.push_back({.kernel = static_cast<int32_t>(step.begin), .copy = {}});
      std::ranges::for_each(kernel.after, copy);
      continue;
    }
    steps.push_back({.copy = {},
                     .times = entry.repeats[static_cast<size_t>(step.repeat)].times,
                     .steps = steps_of(entry, kernels, loop::steps_of(entry, step))});
  }
  return steps;
}

void write_region(JsonWriter& json, const Region& region) {
  json.member("of", text(region.holder));
  const bool is_part = region.holder == Holder::Scratch || region.holder == Holder::Constants;
  if (!is_part) json.member("index", region.index);
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
  const bool is_part = region.holder == Holder::Scratch || region.holder == Holder::Constants;
  if (!is_part) append(out, ' ', region.index);
  return concat(out, '[', region.offset, ", ", region.offset + region.bytes, ')');
}

}  // namespace

Result<Program> emit_program(const loop::Module& module, const lower::MemoryPlan& plan,
                             const Limits& limits) {
  LATHE_TRY(check_types(module));
  const Layout layout = layout_of(module, plan);
  Program program;
  program.constant_bytes = plan.constant_bytes;
  program.scratch_bytes = plan.scratch_bytes;
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    const loop::Buffer& buffer = module.buffers[id];
    if (buffer.role != loop::BufferRole::Constant || buffer.data.size() == 0) continue;
    program.constants.push_back({layout[id].offset, stored_bytes(buffer)});
  }
  std::map<std::string, int32_t, std::less<>> shaders;
  for (const loop::Entry& from : module.entries) {
    Entry& entry = program.entries.emplace_back();
    entry.name = from.name;
    std::vector<Kernel> kernels;
    for (const loop::Kernel& kernel : from.kernels) {
      LATHE_ASSIGN_OR_RETURN(
          Kernel shader, KernelEmitter(module, layout, kernel, limits, plan.scratch_bytes).emit());
      program.scratch_bytes = std::max(program.scratch_bytes, shader.scratch_end);
      const auto [known, is_new] =
          shaders.emplace(shader.code, static_cast<int32_t>(program.shaders.size()));
      if (is_new) program.shaders.push_back(std::move(shader.code));
      entry.kernels.push_back({.name = shader.name,
                               .shader = known->second,
                               .groups_x = shader.groups_x,
                               .groups_y = shader.groups_y,
                               .bindings = shader.bindings});
      kernels.push_back(std::move(shader));
    }
    entry.steps = steps_of(from, kernels, loop::steps_of(from));
  }
  return program;
}

void write_entry(JsonWriter& json, const Entry& entry) {
  json.key("kernels").begin_array();
  for (const Dispatch& kernel : entry.kernels) {
    json.begin_object().member("name", kernel.name).member("shader", kernel.shader);
    json.key("groups").begin_array().value(kernel.groups_x).value(kernel.groups_y).end_array();
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
