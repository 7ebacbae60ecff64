#include "lathe/compile/pipeline.h"

#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/emit/wgsl/module.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/analysis/work.h"
#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/passes/expand_transcendentals.h"
#include "lathe/loop/passes/fold_copies.h"
#include "lathe/loop/passes/hoist_guards.h"
#include "lathe/loop/passes/split_guards.h"
#include "lathe/loop/passes/tile_transposes.h"
#include "lathe/loop/passes/vectorize_loops.h"
#include "lathe/loop/text/print.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/lower/cpu/passes.h"
#include "lathe/lower/gpu/lower.h"
#include "lathe/opt/passes.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/print.h"
#include "lathe/wasm/validate.h"

namespace lathe::compile {

namespace {

Pass on_graphs(std::string_view name, graph::Graph (*run)(graph::Graph)) {
  return {name, [run](CompilationState& state) -> Status {
            for (graph::Graph& entry : state.program.entries) entry = run(std::move(entry));
            return {};
          }};
}

Pass on_kernels(std::string_view name, void (*run)(loop::Kernel&)) {
  return {name, [run](CompilationState& state) -> Status {
            for (loop::Entry& entry : state.loops.entries) {
              for (loop::Kernel& kernel : entry.kernels) run(kernel);
            }
            return {};
          }};
}

Pass on_modules(std::string_view name, void (*run)(loop::Module&)) {
  return {name, [run](CompilationState& state) -> Status {
            run(state.loops);
            return {};
          }};
}

Status lowered(CompilationState& state, loop::Module loops) {
  state.loops = std::move(loops);
  state.program = {};  // the loops share the data of its large constants
  state.form = Form::Loop;
  return {};
}

Status lower_for_cpu(CompilationState& state) {
  const Features& features = state.options.features;
  return lowered(state, lower::cpu::lower(
                            state.program, state.options.schedules, &state.executable.contractions,
                            {features.relaxed_simd, features.wide_lanes, features.fast_pairs},
                            state.options.winograd));
}

Status lower_for_gpu(CompilationState& state) {
  const Options& options = state.options;
  return lowered(
      state, lower::gpu::lower(state.program, {options.limits.threads, options.limits.shared_bytes},
                               options.thread_schedules, &state.thread_contractions));
}

// The type, shape and offset of a port. `entry`: the name of its entry, or "" for a state.
Buffer buffer_of(const CompilationState& state, const std::string& entry, const loop::Port& port) {
  const auto offset = state.plan.offsets[static_cast<size_t>(port.buffer)];
  return {port.name, state.port_types.at({entry, port.name}), port.shape,
          static_cast<uint32_t>(offset)};
}

Status split_work(CompilationState& state) {
  const Options& options = state.options;
  for (loop::Entry& loops : state.loops.entries) {
    Entry& entry = state.executable.entries.emplace_back();
    entry.name = loops.name;
    entry.work = loop::work_of(loops);
    if (options.features.threads && !options.timing)
      entry.threads = loop::split_work(loops, options.worth_splitting);
    // The number of iterations of such a loop depends on data. A host stops it from another thread,
    // so a stoppable entry that contains one runs with two threads at least.
    const bool has_data_dependent_loop = std::ranges::any_of(
        loops.repeats, [](const loop::Repeat& repeat) { return repeat.condition >= 0; });
    if (options.stoppable && options.features.threads && has_data_dependent_loop)
      entry.threads = std::max(entry.threads, 2);
    state.executable.threads |= entry.threads > 1;
  }
  return {};
}

Status plan_memory(CompilationState& state) {
  Executable& executable = state.executable;
  executable.relocatable = state.options.placement == Placement::Relocatable;
  LATHE_ASSIGN_OR_RETURN(state.plan, executable.relocatable
                                         ? lower::plan_relocatable_memory(state.loops)
                                         : lower::plan_memory(state.loops));
  executable.memory_bytes = state.plan.total_bytes;
  executable.temporary_bytes = state.plan.total_bytes - state.plan.persistent_bytes;
  executable.constant_bytes = state.plan.constant_bytes;
  for (const loop::Port& port : state.loops.states) {
    executable.states.push_back(buffer_of(state, "", port));
  }
  for (size_t i = 0; i < executable.entries.size(); ++i) {
    const loop::Entry& from = state.loops.entries[i];
    Entry& entry = executable.entries[i];
    for (const loop::Port& port : from.inputs) {
      Buffer& input = entry.inputs.emplace_back(buffer_of(state, from.name, port));
      for (const IndexRange& range : state.index_ranges) {
        if (range.entry == from.name && range.input == port.name) input.ranges.push_back(range);
      }
    }
    for (const loop::Port& port : from.outputs) {
      entry.outputs.push_back(buffer_of(state, from.name, port));
    }
  }
  return {};
}

// Places a table of times for each entry after all other buffers, which increases memory_bytes.
// Empty if options.timing is false. Error: the memory exceeds 4 GiB.
Result<std::vector<emit_wasm::Times>> allocate_times(CompilationState& state) {
  std::vector<emit_wasm::Times> tables;
  if (!state.options.timing) return tables;
  uint64_t& end = state.executable.memory_bytes;
  for (size_t i = 0; i < state.loops.entries.size(); ++i) {
    emit_wasm::Times& table = tables.emplace_back(end);
    for (const loop::Kernel& kernel : state.loops.entries[i].kernels) {
      const bool is_new = std::ranges::find(table.parts, kernel.part) == table.parts.end();
      if (is_new && !kernel.part.empty()) table.parts.push_back(kernel.part);
    }
    end += table.bytes();
    Entry& entry = state.executable.entries[i];
    entry.times = static_cast<uint32_t>(table.offset);
    entry.parts = table.parts;
  }
  if (end > uint64_t{1} << 32) return fail("the model leaves no memory for its times");
  return tables;
}

// The initial contents of states, from the options. Errors: an unknown state; another size.
Result<std::vector<emit_wasm::Content>> initial_contents(const CompilationState& state) {
  const std::vector<StateContent>& initial = state.options.contents;
  for (const StateContent& content : initial) {
    const auto& states = state.loops.states;
    if (std::ranges::find(states, content.name, &loop::Port::name) == states.end()) {
      return fail(concat("the program has no state '", content.name, "'"));
    }
  }
  std::vector<emit_wasm::Content> contents;
  for (const loop::Port& port : state.loops.states) {
    const auto content = std::ranges::find(initial, port.name, &StateContent::name);
    if (content == initial.end()) continue;
    const loop::Buffer& buffer = state.loops.buffers[static_cast<size_t>(port.buffer)];
    const auto bytes =
        static_cast<size_t>(buffer.size) * static_cast<size_t>(scalar::size_of(buffer.dtype));
    if (content->data.size() != bytes) {
      return fail(concat("state '", port.name, "' of shape ", bracketed(port.shape), " has ", bytes,
                         " bytes, not ", content->data.size()));
    }
    contents.push_back({port.buffer, content->data});
  }
  return contents;
}

Status emit_wasm(CompilationState& state) {
  LATHE_ASSIGN_OR_RETURN(const std::vector<emit_wasm::Content> contents, initial_contents(state));
  LATHE_ASSIGN_OR_RETURN(const std::vector<emit_wasm::Times> times, allocate_times(state));
  const Features& features = state.options.features;
  LATHE_ASSIGN_OR_RETURN(
      state.module,
      emit_wasm::emit_module(state.loops,
                             {.placement = {.offsets = state.plan.offsets,
                                            .bases = state.plan.bases,
                                            .is_relocatable = state.executable.relocatable},
                              .total_bytes = state.executable.memory_bytes,
                              .shared_memory = state.executable.relocatable && features.threads,
                              .times = times,
                              .origins = state.options.origins ? &state.origins : nullptr,
                              .is_stoppable = state.options.stoppable},
                             contents, metadata(state.executable),
                             {.simd = features.simd,
                              .relaxed_simd = features.simd && features.relaxed_simd,
                              .threads = state.executable.threads}));
  // Only the data segments of the module refer to the constants from here on.
  for (loop::Buffer& buffer : state.loops.buffers) buffer.data = {};
  state.form = Form::Wasm;
  return {};
}

Status encode(CompilationState& state) {
  if (state.options.origins) {
    wasm::CodeOffsets offsets;
    wasm::encode(state.module, offsets);
    const std::string text = emit_wasm::json(state.origins, state.loops, state.module, offsets);
    // It follows the code section, so that the code offsets in it remain valid.
    state.module.customs.push_back(
        {emit_wasm::kOriginSection, {text.begin(), text.end()}, wasm::Section::data});
  }
  state.executable.code = wasm::encode_without_data(state.module);
  state.executable.data = state.module.data;
  state.form = Form::Bytes;
  return {};
}

Status emit_wgsl(CompilationState& state) {
  for (const auto& [port, dtype] : state.port_types) {
    if (emit_wgsl::has_type(dtype)) continue;
    return fail(concat("shaders have no ", scalar::text(dtype), ", the type of ", port.second,
                       "; cast it to f32 or i32"));
  }
  LATHE_ASSIGN_OR_RETURN(const emit_wgsl::Program program,
                         emit_wgsl::emit_program(state.loops, state.options.limits));
  state.shaders = {emit_wgsl::text(program, state.loops), emit_wgsl::json(program, state.loops)};
  state.form = Form::Shaders;
  return {};
}

std::vector<Pass> optimizations() {
  std::vector<Pass> passes;
  for (const opt::Pass& pass : opt::passes()) passes.push_back(on_graphs(pass.name, pass.run));
  return passes;
}

std::vector<Pass> list_wasm_passes() {
  std::vector<Pass> passes = optimizations();
  for (const lower::cpu::Pass& pass : lower::cpu::kPasses)
    passes.push_back(on_graphs(pass.name, pass.run));
  passes.push_back({"lower", lower_for_cpu});
  passes.push_back(on_modules("fold_copies", loop::fold_copies));
  passes.push_back(on_kernels("collapse_loops", loop::collapse_loops));
  passes.push_back(on_kernels("expand_transcendentals", [](loop::Kernel& kernel) {
    loop::expand_unsupported(kernel, emit_wasm::needs_expansion);
  }));
  passes.push_back(on_kernels("split_guards", loop::split_guards));
  passes.push_back(on_kernels("tile_transposes", loop::tile_transposes));
  passes.push_back(on_kernels("vectorize_loops", loop::vectorize_loops));
  passes.push_back(on_kernels("hoist_guards", loop::hoist_guards));
  passes.push_back({"split_work", split_work});
  passes.push_back({"plan_memory", plan_memory});
  passes.push_back({"emit_wasm", emit_wasm});
  passes.push_back({"encode", encode});
  return passes;
}

std::vector<Pass> list_wgsl_passes() {
  std::vector<Pass> passes = optimizations();
  passes.push_back({"lower", lower_for_gpu});
  passes.push_back(on_kernels("collapse_loops", loop::collapse_loops));
  passes.push_back(on_kernels("expand_transcendentals", [](loop::Kernel& kernel) {
    loop::expand_unsupported(kernel, emit_wgsl::needs_expansion);
  }));
  passes.push_back(on_kernels("bind_grid", [](loop::Kernel& kernel) { loop::bind_grid(kernel); }));
  passes.push_back({"emit_wgsl", emit_wgsl});
  return passes;
}

[[maybe_unused]] Status check_features(const CompilationState& state) {
  const wasm::FeatureSet needed = wasm::features_of(state.module);
  const wasm::FeatureSet granted = proposals_of(state.options.features);
  for (const wasm::Feature feature : wasm::all_features()) {
    if (!needed.has(feature) || granted.has(feature)) continue;
    return fail(concat("the module needs ", wasm::name(feature), ", which was not granted"));
  }
  return {};
}

}  // namespace

PortTypes port_types(const graph::Program& program) {
  PortTypes types;
  for (const graph::Graph& entry : program.entries) {
    for (const graph::Node& node : entry.nodes) {
      if (node.kind == graph::Kind::State) types[{"", node.name}] = node.dtype;
      if (node.kind == graph::Kind::Input) types[{entry.name, node.name}] = node.dtype;
    }
    for (const graph::Output& output : entry.outputs) {
      types[{entry.name, output.name}] = entry[output.value].dtype;
    }
  }
  return types;
}

const std::vector<Pass>& wasm_passes() {
  static const std::vector<Pass> kPasses = list_wasm_passes();
  return kPasses;
}

const std::vector<Pass>& wgsl_passes() {
  static const std::vector<Pass> kPasses = list_wgsl_passes();
  return kPasses;
}

std::string text(const CompilationState& state) {
  std::string out;
  switch (state.form) {
    case Form::Graph:
      for (const graph::Graph& entry : state.program.entries) out += graph::print(entry);
      break;
    case Form::Loop:
      out = loop::print(state.loops);
      break;
    case Form::Wasm:
    case Form::Bytes:
#ifndef __wasm__  // pages print modules with lathe-text.wasm
      out = wasm::print(state.module);
#endif
      break;
    case Form::Shaders:
      out = state.shaders.text;
      break;
  }
  return out;
}

// Does nothing in the compiler's WebAssembly build: there the engine that runs the module validates
// it.
Status verify([[maybe_unused]] const CompilationState& state) {
#ifndef __wasm__
  switch (state.form) {
    case Form::Graph:
      for (const graph::Graph& entry : state.program.entries) LATHE_TRY(graph::verify(entry));
      return {};
    case Form::Loop:
      return loop::verify(state.loops);
    case Form::Wasm:
    case Form::Bytes:
      LATHE_TRY(wasm::validate(state.module));
      return check_features(state);
    case Form::Shaders:
      return {};
  }
#endif
  return {};
}

}  // namespace lathe::compile
