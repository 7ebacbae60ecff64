#include "lathe/emit/wgsl/module.h"

#include "lathe/base/text.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/loop/text/syntax.h"

namespace lathe::emit_wgsl {

namespace {

void append_ports(std::string& out, std::string_view key, const std::vector<loop::Port>& ports) {
  append(out, '"', key, "\":[");
  for (bool first = true; const loop::Port& port : ports) {
    append(out, first ? "" : ",", "{\"name\":");
    append_json(out, port.name);
    append(out, ",\"shape\":", bracketed(port.shape), ",\"buffer\":", port.buffer, '}');
    first = false;
  }
  out += ']';
}

void append_buffer(std::string& out, const loop::Buffer& buffer, const MemorySlot& slot) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "{\"name\":";
  append_json(out, buffer.name);
  append(out, ",\"dtype\":\"", scalar::text(buffer.dtype), "\",\"role\":\"",
         loop::text(buffer.role), "\",\"elements\":", buffer.size, ",\"memory\":", slot.memory,
         ",\"at\":", slot.offset, ",\"data\":\"");
  for (const std::byte b : buffer.data) {
    out += kHex[std::to_integer<size_t>(b) >> 4];
    out += kHex[std::to_integer<size_t>(b) & 15];
  }
  out += "\"}";
}

void append_kernel(std::string& out, const Kernel& kernel) {
  out += "{\"name\":";
  append_json(out, kernel.name);
  append(out, ",\"groups\":[", kernel.groups_x, ',', kernel.groups_y,
         "],\"memories\":", bracketed(kernel.memories), ",\"code\":");
  append_json(out, kernel.code);
  out += '}';
}

std::string steps_json(const loop::Entry& entry, const std::vector<loop::Step>& steps) {
  std::string out;
  for (const loop::Step& step : steps) {
    if (!out.empty()) out += ',';
    if (step.repeat < 0) {
      append(out, step.begin);
    } else {
      append(out, "{\"times\":", entry.repeats[static_cast<size_t>(step.repeat)].times,
             ",\"steps\":", steps_json(entry, loop::steps_of(entry, step)), '}');
    }
  }
  return concat('[', out, ']');
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
  std::string out = concat("{\"version\":2,\"memories\":", bracketed(memories), ",\"buffers\":[");
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    if (id > 0) out += ',';
    append_buffer(out, module.buffers[id], program.layout.slots[id]);
  }
  out += "],";
  append_ports(out, "states", module.states);
  out += ",\"entries\":[";
  for (size_t i = 0; i < program.entries.size(); ++i) {
    append(out, i == 0 ? "" : ",", "{\"name\":");
    append_json(out, program.entries[i].name);
    out += ',';
    append_ports(out, "inputs", module.entries[i].inputs);
    out += ',';
    append_ports(out, "outputs", module.entries[i].outputs);
    append(out, ",\"steps\":", steps_json(module.entries[i], loop::steps_of(module.entries[i])),
           ",\"kernels\":[");
    for (bool first = true; const Kernel& kernel : program.entries[i].kernels) {
      if (!first) out += ',';
      append_kernel(out, kernel);
      first = false;
    }
    out += "]}";
  }
  return out + "]}";
}

std::string text(const Program& program, const loop::Module& module) {
  std::string out;
  for (size_t i = 0; i < program.entries.size(); ++i) {
    const Entry& entry = program.entries[i];
    const loop::Entry& from = module.entries[i];
    if (!from.repeats.empty()) {
      append(out, "// ", entry.name, ": ", steps_json(from, loop::steps_of(from)), '\n');
    }
    for (const Kernel& kernel : entry.kernels) {
      append(out, "// ", kernel.name, ": ", kernel.groups_x, " x ", kernel.groups_y, " groups\n",
             kernel.code);
    }
  }
  return out;
}

}  // namespace lathe::emit_wgsl
