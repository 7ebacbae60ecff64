#include "lathe/api/webgpu/webgpu.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lathe/api/error.h"
#include "lathe/base/json.h"
#include "lathe/base/text.h"
#include "lathe/compile/shader_code.h"
#include "lathe/compile/target.h"
#include "lathe/graph/binary.h"

namespace {

namespace compile = lathe::compile;
using lathe::Json;
using lathe::Result;
using lathe::Status;
using lathe::api::last_error;

struct Program {
  lathe::graph::Program graphs;
  compile::Executable executable;
  bool is_compiled = false;
  std::string metadata;
  std::vector<size_t> constants;
};

struct Programs {
  std::map<int32_t, Program> live;
  int32_t last_handle = 0;
};

Programs& programs() {
  static Programs the_programs;
  return the_programs;
}

Program* find(int32_t handle) {
  const auto found = programs().live.find(handle);
  if (found != programs().live.end()) return &found->second;
  last_error() = lathe::concat("there is no program ", handle);
  return nullptr;
}

Program* find_compiled(int32_t handle) {
  Program* const program = find(handle);
  if (program == nullptr || program->is_compiled) return program;
  last_error() = "the program is not compiled";
  return nullptr;
}

int32_t done(const Status& status) {
  if (status) return 1;
  last_error() = status.error().message;
  return 0;
}

Status read_limit(const Json& limits, const char* key, int64_t& limit) {
  const Json& value = limits.at(key);
  if (value.is_null()) return {};
  if (!value.is_number() || !(value.number() >= 1) || !(value.number() <= 0x1p53)) {
    return lathe::fail(lathe::concat("limits.", key, ": must be a positive integer"));
  }
  limit = static_cast<int64_t>(value.number());
  return {};
}

Status compile_program(Program& program, std::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  compile::Options options;
  const Json& limits = json.at("limits");
  LATHE_TRY(read_limit(limits, "threads", options.limits.threads));
  LATHE_TRY(read_limit(limits, "sharedBytes", options.limits.shared_bytes));
  LATHE_TRY(read_limit(limits, "storageBuffers", options.limits.storage_buffers));
  LATHE_TRY(read_limit(limits, "bindingBytes", options.limits.binding_bytes));
  LATHE_TRY(read_limit(limits, "subgroupThreads", options.limits.subgroup_threads));
  options.limits.shader_f16 = limits.at("shaderF16").boolean();
  LATHE_ASSIGN_OR_RETURN(program.executable, compile::compile(std::exchange(program.graphs, {}),
                                                              options, compile::webgpu_codegen()));
  program.metadata = compile::shader_metadata(program.executable);
  const auto& segments = compile::shaders(program.executable).program.constants;
  program.constants = {segments.size()};
  for (const lathe::emit_wgsl::Segment& segment : segments) {
    const auto address = reinterpret_cast<size_t>(segment.bytes.data());
    program.constants.insert(program.constants.end(),
                             {static_cast<size_t>(segment.offset), address, segment.bytes.size()});
  }
  program.is_compiled = true;
  return {};
}

}  // namespace

int32_t lathe_webgpu_entry(int32_t program, const uint8_t* bytes, size_t size,
                           const size_t* constants, size_t count) {
  std::vector<lathe::SharedBytes> data;
  for (size_t k = 0; k < count; ++k) {
    data.push_back(
        lathe::api::adopt_bytes(reinterpret_cast<void*>(constants[2 * k]), constants[2 * k + 1]));
  }
  Result<lathe::graph::Graph> graph = lathe::graph::decode({bytes, size}, data);
  if (!graph) {
    last_error() = graph.error().message;
    return 0;
  }
  if (program == 0)
    program = ++programs().last_handle;
  else if (find(program) == nullptr)
    return 0;
  programs().live[program].graphs.entries.push_back(std::move(*graph));
  return program;
}

int32_t lathe_webgpu_compile(int32_t program, const char* json, size_t length) {
  Program* const found = find(program);
  return found == nullptr ? 0 : done(compile_program(*found, {json, length}));
}

const char* lathe_webgpu_metadata(int32_t program) {
  const Program* const found = find_compiled(program);
  return found == nullptr ? nullptr : found->metadata.c_str();
}

const size_t* lathe_webgpu_constants(int32_t program) {
  const Program* const found = find_compiled(program);
  return found == nullptr ? nullptr : found->constants.data();
}

int32_t lathe_webgpu_free(int32_t program) {
  if (find(program) == nullptr) return 0;
  programs().live.erase(program);
  return 1;
}

int32_t lathe_webgpu_live_objects() { return static_cast<int32_t>(programs().live.size()); }
