// The target WebGPU: compute shaders.
#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/compile/shader_code.h"
#include "lathe/compile/target.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/passes/expand_transcendentals.h"
#include "lathe/lower/gpu/lower.h"
#include "lathe/lower/gpu/narrow_int64.h"
#include "lathe/opt/lower_float16.h"
#include "lathe/opt/widen_float16.h"

namespace lathe::compile {

namespace {

class ShaderState : public CodeState {
 public:
  explicit ShaderState(std::string text) : text_(std::move(text)) {}
  std::string text() const override { return text_; }
  // The device that compiles them validates them.
  Status verify(const Options&) const override { return {}; }

 private:
  std::string text_;
};

Status check_ports(CompilationState& state) {
  for (const auto& [port, dtype] : state.port_types) {
    if (emit_wgsl::has_type(dtype) || dtype == graph::DType::I64 || dtype == graph::DType::U64)
      continue;
    return fail(concat("shaders have no ", scalar::text(dtype), ", the type of ", port.second,
                       "; cast it to f32 or i32"));
  }
  return {};
}

Status narrow_int64(CompilationState& state) {
  LATHE_TRY(check_ports(state));
  for (graph::Graph& entry : state.program.entries) LATHE_TRY(lower::gpu::narrow_int64(entry));
  return {};
}

using Run = Status (*)(CompilationState&);

// One of two passes: for devices that have float16, and for others.
template <graph::Graph (*with_f16)(graph::Graph), graph::Graph (*without)(graph::Graph)>
Status by_f16(CompilationState& state) {
  const auto run = state.options.limits.shader_f16 ? with_f16 : without;
  for (graph::Graph& entry : state.program.entries) entry = run(std::move(entry));
  return {};
}

void replace(std::vector<Pass>& passes, std::string_view name, Run run) {
  std::ranges::find(passes, name, &Pass::name)->run = run;
}

Status lower_for_gpu(CompilationState& state) {
  const Options& options = state.options;
  const emit_wgsl::Limits& limits = options.limits;
  set_loops(state,
            lower::gpu::lower(state.program,
                              {limits.threads, limits.shared_bytes, limits.subgroup_threads},
                              options.thread_schedules, &shaders(state.executable).contractions));
  return {};
}

Status plan_regions(CompilationState& state) {
  LATHE_ASSIGN_OR_RETURN(state.plan, lower::plan_relocatable_memory(
                                         state.loops, emit_wgsl::storage_of(state.options.limits)));
  for (const loop::Entry& entry : state.loops.entries) {
    state.executable.entries.emplace_back().name = entry.name;
  }
  describe_ports(state);
  return {};
}

Status emit_wgsl(CompilationState& state) {
  Executable& executable = state.executable;
  emit_wgsl::Program& program = shaders(executable).program;
  LATHE_ASSIGN_OR_RETURN(program,
                         emit_wgsl::emit_program(state.loops, state.plan, state.options.limits));
  executable.temporary_bytes = program.scratch_bytes;
  executable.constant_bytes = program.constant_bytes;
  executable.memory_bytes = state.plan.persistent_bytes + program.scratch_bytes;
  state.form = Form::Code;
  return {};
}

Status emit_wgsl_and_text(CompilationState& state) {
  LATHE_TRY(emit_wgsl(state));
  const bool is_dumped = state.options.on_dump != nullptr;
  const emit_wgsl::Program& program = shaders(state.executable).program;
  state.code = std::make_unique<ShaderState>(is_dumped ? emit_wgsl::text(program) : "");
  return {};
}

// The passes from the graph with types that shaders have.
std::vector<Pass> lowering_passes(Run emit) {
  return {{"lower", lower_for_gpu},
          on_kernels("collapse_loops", loop::collapse_loops),
          on_kernels("expand_transcendentals",
                     [](loop::Kernel& kernel) {
                       loop::expand_unsupported(kernel, emit_wgsl::needs_expansion, false);
                     }),
          on_kernels("bind_grid", [](loop::Kernel& kernel) { loop::bind_grid(kernel); }),
          {"plan_memory", plan_regions},
          {"emit_wgsl", emit}};
}

// Those of graphs are `optimize`, of which widen_types is one.
Target target_of(std::vector<Pass> optimize, Run emit) {
  replace(optimize, "lower_float16",
          by_f16<graph::with_bodies<opt::lower_bfloat16>, graph::with_bodies<opt::lower_float16>>);
  const auto widen = std::ranges::find(optimize, "widen_types", &Pass::name);
  optimize.insert(widen, {"narrow_int64", narrow_int64});
  const std::vector<Pass> lowering = lowering_passes(emit);
  optimize.insert(optimize.end(), lowering.begin(), lowering.end());
  return {"webgpu", []() -> std::shared_ptr<Code> { return std::make_shared<ShaderCode>(); },
          std::move(optimize)};
}

void write_ports(JsonWriter& json, std::string_view key, const std::vector<Buffer>& ports) {
  json.key(key).begin_array();
  for (const Buffer& port : ports) {
    json.begin_object().member("name", port.name).member("dtype", scalar::text(port.dtype));
    json.member("shape", port.shape);
    write_ranges(json, port);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

const Target& webgpu_target() {
  static const Target kTarget = [] {
    std::vector<Pass> optimize = optimizations();
    replace(optimize, "widen_float16",
            by_f16<opt::widen_float16_but_constants, opt::widen_float16>);
    return target_of(std::move(optimize), emit_wgsl_and_text);
  }();
  return kTarget;
}

const Target& webgpu_codegen() {
  static const Target kTarget = target_of(type_passes(), emit_wgsl);
  return kTarget;
}

std::string shader_metadata(const Executable& executable) {
  const emit_wgsl::Program& program = shaders(executable).program;
  JsonWriter json;
  json.begin_object().member("version", 1).member("target", "webgpu");
  if (program.uses_f16) json.key("features").begin_array().value("shader-f16").end_array();
  json.member("constantBytes", program.constant_bytes).member("pageBytes", program.page_bytes);
  json.member("argumentBytes", program.argument_bytes);
  write_ports(json, "states", executable.states);
  json.member("shaders", program.shaders).key("entries").begin_array();
  for (size_t i = 0; i < executable.entries.size(); ++i) {
    const Entry& entry = executable.entries[i];
    json.begin_object().member("name", entry.name);
    write_ports(json, "inputs", entry.inputs);
    write_ports(json, "outputs", entry.outputs);
    emit_wgsl::write_entry(json, program.entries[i]);
    json.end_object();
  }
  return json.end_array().end_object().release();
}

}  // namespace lathe::compile
