#include "emit/wgsl/module.h"

#include "base/text.h"
#include "loop/spelling.h"

namespace lathe::emit::wgsl {

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

void append_buffer(std::string& out, const loop::Buffer& buffer) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "{\"name\":";
  append_json(out, buffer.name);
  append(out, ",\"dtype\":\"", scalar::text(buffer.dtype), "\",\"role\":\"",
         loop::text(buffer.role), "\",\"elements\":", buffer.size, ",\"data\":\"");
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
         "],\"buffers\":", bracketed(kernel.buffers), ",\"code\":");
  append_json(out, kernel.code);
  out += '}';
}

}  // namespace

Result<Program> emit_program(const loop::Module& module) {
  Program program;
  for (const loop::Entry& from : module.entries) {
    Entry& entry = program.entries.emplace_back();
    entry.name = from.name;
    if (!from.repeats.empty()) {
      return fail(concat("entry '", from.name,
                         "': has loops over time steps, which WebGPU does not run yet; use wasm"));
    }
    for (const loop::Kernel& kernel : from.kernels) {
      ASSIGN_OR_RETURN(Kernel shader, KernelEmitter(module, kernel).emit());
      entry.kernels.push_back(std::move(shader));
    }
  }
  return program;
}

std::string json(const Program& program, const loop::Module& module) {
  std::string out = "{\"version\":1,\"buffers\":[";
  for (bool first = true; const loop::Buffer& buffer : module.buffers) {
    if (!first) out += ',';
    append_buffer(out, buffer);
    first = false;
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
    out += ",\"kernels\":[";
    for (bool first = true; const Kernel& kernel : program.entries[i].kernels) {
      if (!first) out += ',';
      append_kernel(out, kernel);
      first = false;
    }
    out += "]}";
  }
  return out + "]}";
}

std::string text(const Program& program) {
  std::string out;
  for (const Entry& entry : program.entries) {
    for (const Kernel& kernel : entry.kernels) {
      append(out, "// ", kernel.name, ": ", kernel.groups_x, " x ", kernel.groups_y, " groups\n",
             kernel.code);
    }
  }
  return out;
}

}  // namespace lathe::emit::wgsl
