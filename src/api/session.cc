#include "lathe/api/session.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "lathe/api/schedule_json.h"
#include "lathe/base/check.h"
#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"

namespace lathe::api {
namespace {

size_t byte_count(const compile::Buffer& buffer) {
  return static_cast<size_t>(graph::element_count(buffer.shape)) *
         static_cast<size_t>(scalar::size_of(buffer.dtype));
}

Result<Executable> compile_with(graph::Program program, compile::Options options,
                                const std::vector<nn::Variable>& variables) {
  Executable executable;
  executable.features = options.features;
  executable.schedules = options.schedules;
  executable.winograd = options.winograd;
  executable.timing = options.timing;
  JsonWriter dumps;
  dumps.begin_array();
  options.on_dump = [&dumps](std::string_view when, const compile::CompilationState& state) {
    dumps.begin_object().member("when", when).member("text", text(state)).end_object();
  };
  LATHE_ASSIGN_OR_RETURN(executable.compiled, compile::compile(std::move(program), options));
  executable.dumps = dumps.end_array().release();
  executable.metadata = metadata(executable.compiled, variables);
  return executable;
}

// An executable of these states, without code.
Executable states_only(const std::vector<nn::Variable>& variables) {
  Executable executable;
  executable.compiled.code = std::make_shared<compile::WasmCode>();
  for (const nn::Variable& each : variables) {
    executable.compiled.states.push_back({each.name, graph::DType::F32, each.shape, 0});
  }
  executable.dumps = "[]";
  executable.metadata = metadata(executable.compiled, variables);
  return executable;
}

}  // namespace

Result<Model> create_model(std::string_view json) {
  LATHE_ASSIGN_OR_RETURN(nn::Model network, network::parse_model(json));
  std::string text = network::summary(network);
  return Model{std::move(network), std::move(text)};
}

Result<Executable> compile_model(const nn::Model& network, std::string_view json) {
  LATHE_ASSIGN_OR_RETURN(CompileRequest request, parse_request(json));
  graph::Program program;
  if (!request.only_states) {
    LATHE_ASSIGN_OR_RETURN(program, nn::build_program(network, request.training));
  }
  LATHE_ASSIGN_OR_RETURN(auto variables, nn::variables(network, request.training));
  Executable executable;
  if (request.only_states) {
    executable = states_only(variables);
  } else {
    LATHE_ASSIGN_OR_RETURN(executable,
                           compile_with(program, std::move(request.options), variables));
    executable.program = std::move(program);
  }
  executable.variables = std::move(variables);
  executable.seed = network.seed();
  return executable;
}

Status check_model(const nn::Model& network, std::string_view json) {
  LATHE_ASSIGN_OR_RETURN(const CompileRequest request, parse_request(json));
  LATHE_TRY(nn::build_program(network, request.training));
  return {};
}

Result<ModelProgram> model_program(const nn::Model& network, std::string_view json) {
  LATHE_ASSIGN_OR_RETURN(const CompileRequest request, parse_request(json));
  LATHE_ASSIGN_OR_RETURN(graph::Program program, nn::build_program(network, request.training));
  std::string description = concat("\"entries\":", program.entries.size());
  if (!program.notes.empty()) append(description, ',', program.notes);
  return ModelProgram{std::move(program), std::move(description)};
}

Result<Executable> compile_kernel(const Executable& executable, std::string_view json) {
  LATHE_ASSIGN_OR_RETURN(const KernelRequest request, parse_kernel_request(json));
  const auto& contractions = executable.compiled.wasm().contractions;
  const auto found =
      std::ranges::find(contractions, request.key, &lower::cpu::ScheduledContraction::key);
  if (found == contractions.end()) {
    return fail(concat("the module has no contraction ", json_string(request.key)));
  }
  Executable kernel;
  LATHE_ASSIGN_OR_RETURN(kernel.compiled,
                         compile::compile_kernel(*found, request.schedule, executable.features));
  kernel.features = executable.features;
  kernel.metadata = api::metadata(kernel.compiled, {});
  kernel.dumps = "[]";
  return kernel;
}

Result<Executable> compile_program(graph::Program program, std::string_view json) {
  LATHE_ASSIGN_OR_RETURN(compile::Options options, parse_compile_options(json));
  return compile_with(std::move(program), std::move(options), {});
}

const std::vector<uint8_t>& module_of(Executable& executable) {
  const compile::WasmCode& wasm = executable.compiled.wasm();
  if (wasm.relocatable) return wasm.code.bytes;
  if (executable.module.empty()) executable.module = wasm.module();
  return executable.module;
}

const std::vector<size_t>& parts_of(Executable& executable) {
  std::vector<size_t>& parts = executable.parts;
  if (!parts.empty()) return parts;
  const std::vector<uint8_t>& code = executable.compiled.wasm().code.bytes;
  const std::vector<wasm::Data>& data = executable.compiled.wasm().data;
  parts = {reinterpret_cast<size_t>(code.data()), code.size(), data.size()};
  for (const wasm::Data& segment : data) {
    const auto offset = static_cast<size_t>(segment.offset.instructions[0].value);
    const auto address = reinterpret_cast<size_t>(segment.bytes.data());
    parts.insert(parts.end(), {offset, address, segment.bytes.size()});
  }
  return parts;
}

Result<const std::byte*> initial_contents(Executable& executable, std::span<const int32_t> states) {
  const std::vector<compile::Buffer>& states_of_module = executable.compiled.states;
  std::vector<std::byte>& contents = executable.initial;
  contents = {};
  size_t size = 0;
  for (const int32_t state : states) {
    if (static_cast<size_t>(state) >= states_of_module.size())
      return fail(concat("the module has no state ", state));
    size += byte_count(states_of_module[static_cast<size_t>(state)]);
  }
  if (size > contents.max_size())
    return fail(concat("out of memory: the weights have ", size, " bytes"));
  contents.reserve(size);
  for (const int32_t state : states) {
    const compile::Buffer& buffer = states_of_module[static_cast<size_t>(state)];
    const auto variable = std::ranges::find(executable.variables, buffer.name, &nn::Variable::name);
    if (variable == executable.variables.end()) {
      contents.resize(contents.size() + byte_count(buffer));
      continue;
    }
    const std::vector<float> values = nn::initial_value(*variable, executable.seed);
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    contents.insert(contents.end(), bytes, bytes + values.size() * sizeof(float));
  }
  return contents.data();
}

Result<Executable> export_executable(const Executable& executable, const std::byte* states) {
  Executable exported;
  exported.features = executable.features;
  exported.schedules = executable.schedules;
  exported.dumps = concat("[]");
  exported.program = executable.program;

  compile::Options options;
  options.features = executable.features;
  options.schedules = executable.schedules;
  options.winograd = executable.winograd;
  options.timing = executable.timing;
  options.features.threads = false;
  const std::byte* at = states;
  for (const compile::Buffer& state : executable.compiled.states) {
    const size_t size = byte_count(state);
    options.contents.push_back({state.name, {at, at + size}});
    at += size;
  }
  LATHE_ASSIGN_OR_RETURN(exported.compiled, compile::compile(exported.program, options));
  exported.metadata = api::metadata(exported.compiled, {});
  return exported;
}

}  // namespace lathe::api
