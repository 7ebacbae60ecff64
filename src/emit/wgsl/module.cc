#include "lathe/emit/wgsl/module.h"

#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/loop/text/syntax.h"

namespace lathe::emit_wgsl {

namespace {

void write_ports(JsonWriter& json, std::string_view key, const std::vector<loop::Port>& ports) {
  json.key(key).begin_array();
  for (const loop::Port& port : ports) {
    json.begin_object().member("name", port.name).member("shape", port.shape);
    json.member("buffer", port.buffer).end_object();
  }
  json.end_array();
}

void write_buffer(JsonWriter& json, const loop::Buffer& buffer, const MemorySlot& slot) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string data;
  for (const std::byte b : buffer.data) {
    data += kHex[std::to_integer<size_t>(b) >> 4];
    data += kHex[std::to_integer<size_t>(b) & 15];
  }
  json.begin_object().member("name", buffer.name).member("dtype", scalar::text(buffer.dtype));
  json.member("role", loop::text(buffer.role)).member("elements", buffer.size);
  json.member("memory", slot.memory).member("at", slot.offset).member("data", data).end_object();
}

void write_kernel(JsonWriter& json, const Kernel& kernel) {
  json.begin_object().member("name", kernel.name);
  json.key("groups").begin_array().value(kernel.groups_x).value(kernel.groups_y).end_array();
  json.member("memories", kernel.memories).member("code", kernel.code).end_object();
}

void write_steps(JsonWriter& json, const loop::Entry& entry, const std::vector<loop::Step>& steps) {
  json.begin_array();
  for (const loop::Step& step : steps) {
    if (step.repeat < 0) {
      json.value(step.begin);
      continue;
    }
    json.begin_object().member("times", entry.repeats[static_cast<size_t>(step.repeat)].times);
    write_steps(json.key("steps"), entry, loop::steps_of(entry, step));
    json.end_object();
  }
  json.end_array();
}

Result<Program> emit_with(Layout layout, const loop::Module& module, const Limits& limits) {
  Program program{std::move(layout), {}};
  for (const loop::Entry& from : module.entries) {
    Entry& entry = program.entries.emplace_back();
    entry.name = from.name;
    for (const loop::Kernel& kernel : from.kernels) {
      LATHE_ASSIGN_OR_RETURN(Kernel shader,
                             KernelEmitter(module, program.layout, kernel, limits).emit());
      entry.kernels.push_back(std::move(shader));
    }
  }
  return program;
}

bool is_crowded(const Program& program) {
  for (const Entry& entry : program.entries) {
    for (const Kernel& kernel : entry.kernels) {
      if (kernel.memories.size() > kMaxMemories) return true;
    }
  }
  return false;
}

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

}  // namespace

Result<Program> emit_program(const loop::Module& module, const Limits& limits) {
  LATHE_TRY(check_types(module));
  LATHE_ASSIGN_OR_RETURN(Program program, emit_with(separate_layout(module), module, limits));
  if (is_crowded(program)) return emit_with(merged_layout(module), module, limits);
  return program;
}

std::string json(const Program& program, const loop::Module& module) {
  std::vector<int64_t> memories;
  for (const Memory& memory : program.layout.memories) memories.push_back(memory.elements);
  JsonWriter json;
  json.begin_object().member("version", 2).member("memories", memories);
  json.key("buffers").begin_array();
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    write_buffer(json, module.buffers[id], program.layout.slots[id]);
  }
  json.end_array();
  write_ports(json, "states", module.states);
  json.key("entries").begin_array();
  for (size_t i = 0; i < program.entries.size(); ++i) {
    const loop::Entry& entry = module.entries[i];
    json.begin_object().member("name", program.entries[i].name);
    write_ports(json, "inputs", entry.inputs);
    write_ports(json, "outputs", entry.outputs);
    write_steps(json.key("steps"), entry, loop::steps_of(entry));
    json.key("kernels").begin_array();
    for (const Kernel& kernel : program.entries[i].kernels) write_kernel(json, kernel);
    json.end_array().end_object();
  }
  return json.end_array().end_object().release();
}

std::string text(const Program& program, const loop::Module& module) {
  std::string out;
  for (size_t i = 0; i < program.entries.size(); ++i) {
    const Entry& entry = program.entries[i];
    const loop::Entry& from = module.entries[i];
    if (!from.repeats.empty()) {
      JsonWriter steps;
      write_steps(steps, from, loop::steps_of(from));
      append(out, "// ", entry.name, ": ", steps.json(), '\n');
    }
    for (const Kernel& kernel : entry.kernels) {
      append(out, "// ", kernel.name, ": ", kernel.groups_x, " x ", kernel.groups_y, " groups\n",
             kernel.code);
    }
  }
  return out;
}

}  // namespace lathe::emit_wgsl
