// The target WebAssembly: one module.
#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/compile/target.h"
#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/emit/wasm/module.h"
#include "lathe/loop/analysis/work.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/passes/expand_transcendentals.h"
#include "lathe/loop/passes/fold_copies.h"
#include "lathe/loop/passes/hoist_guards.h"
#include "lathe/loop/passes/split_guards.h"
#include "lathe/loop/passes/tile_transposes.h"
#include "lathe/loop/passes/vectorize_loops.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/lower/cpu/passes.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/print.h"
#include "lathe/wasm/validate.h"

namespace lathe::compile {

namespace {

#ifndef __wasm__
Status check_features(const wasm::Module& module, const Features& features) {
  const wasm::FeatureSet needed = wasm::features_of(module);
  const wasm::FeatureSet granted = proposals_of(features);
  for (const wasm::Feature feature : wasm::all_features()) {
    if (!needed.has(feature) || granted.has(feature)) continue;
    return fail(concat("the module needs ", wasm::name(feature), ", which was not granted"));
  }
  return {};
}

#endif

class ModuleState : public CodeState {
 public:
  // Pages print modules with lathe-text.wasm, and their engine validates them.
#ifdef __wasm__
  std::string text() const override { return ""; }
  Status verify(const Options&) const override { return {}; }
#else
  std::string text() const override { return wasm::print(module); }
  Status verify(const Options& options) const override {
    LATHE_TRY(wasm::validate(module));
    return check_features(module, options.features);
  }
#endif

  wasm::Module module;
  std::vector<emit_wasm::Origin> origins;
};

Status lower_for_cpu(CompilationState& state) {
  const Features& features = state.options.features;
  set_loops(state,
            lower::cpu::lower(state.program, state.options.schedules,
                              &state.executable.wasm().contractions,
                              {features.relaxed_simd, features.wide_lanes, features.fast_pairs},
                              state.options.winograd));
  return {};
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
    state.executable.wasm().threads |= entry.threads > 1;
  }
  return {};
}

Status plan_memory(CompilationState& state) {
  Executable& executable = state.executable;
  bool& relocatable = executable.wasm().relocatable;
  relocatable = state.options.placement == Placement::Relocatable;
  LATHE_ASSIGN_OR_RETURN(state.plan, relocatable ? lower::plan_relocatable_memory(state.loops)
                                                 : lower::plan_memory(state.loops));
  executable.memory_bytes = state.plan.total_bytes;
  executable.temporary_bytes = state.plan.total_bytes - state.plan.persistent_bytes;
  executable.constant_bytes = state.plan.constant_bytes;
  describe_ports(state);
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
  const WasmCode& wasm = state.executable.wasm();
  auto code = std::make_unique<ModuleState>();
  LATHE_ASSIGN_OR_RETURN(
      code->module,
      emit_wasm::emit_module(state.loops,
                             {.placement = {.offsets = state.plan.offsets,
                                            .bases = state.plan.bases,
                                            .is_relocatable = wasm.relocatable},
                              .total_bytes = state.executable.memory_bytes,
                              .shared_memory = wasm.relocatable && features.threads,
                              .times = times,
                              .origins = state.options.origins ? &code->origins : nullptr,
                              .is_stoppable = state.options.stoppable},
                             contents, metadata(state.executable),
                             {.simd = features.simd,
                              .relaxed_simd = features.simd && features.relaxed_simd,
                              .threads = wasm.threads}));
  // Only the data segments of the module refer to the constants from here on.
  for (loop::Buffer& buffer : state.loops.buffers) buffer.data = {};
  state.code = std::move(code);
  state.form = Form::Code;
  return {};
}

Status encode(CompilationState& state) {
  ModuleState& code = static_cast<ModuleState&>(*state.code);
  WasmCode& wasm = state.executable.wasm();
  if (state.options.origins) {
    wasm::CodeOffsets offsets;
    wasm::encode(code.module, offsets);
    const std::string text = emit_wasm::json(code.origins, state.loops, code.module, offsets);
    // It follows the code section, so that the code offsets in it remain valid.
    code.module.customs.push_back(
        {emit_wasm::kOriginSection, {text.begin(), text.end()}, wasm::Section::data});
  }
  wasm.code = wasm::encode_without_data(code.module);
  wasm.data = code.module.data;
  return {};
}

// A pass that makes vectors, of the width of those that lowering makes and that are emitted.
template <void (*kRun)(loop::Kernel&, int64_t lanes)>
void with_lanes(loop::Kernel& kernel) {
  static_assert(lower::cpu::kLanes == emit_wasm::kVectorLanes);
  kRun(kernel, lower::cpu::kLanes);
}

std::vector<Pass> wasm_passes() {
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
  passes.push_back(on_kernels("tile_transposes", with_lanes<loop::tile_transposes>));
  passes.push_back(on_kernels("vectorize_loops", with_lanes<loop::vectorize_loops>));
  passes.push_back(on_kernels("hoist_guards", loop::hoist_guards));
  passes.push_back({"split_work", split_work});
  passes.push_back({"plan_memory", plan_memory});
  passes.push_back({"emit_wasm", emit_wasm});
  passes.push_back({"encode", encode});
  return passes;
}

}  // namespace

const Target& wasm_target() {
  static const Target kTarget{
      "wasm", []() -> std::shared_ptr<Code> { return std::make_shared<WasmCode>(); },
      wasm_passes()};
  return kTarget;
}

}  // namespace lathe::compile
