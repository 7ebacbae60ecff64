#include "runs.h"

#include "lathe/base/text.h"
#include "lathe/emit/wasm/module.h"
#include "lathe/emit/wgsl/module.h"
#include "lathe/grad/gradient.h"
#include "lathe/graph/parse.h"
#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/passes/expand_transcendentals.h"
#include "lathe/loop/passes/hoist_guards.h"
#include "lathe/loop/passes/split_guards.h"
#include "lathe/loop/passes/split_work.h"
#include "lathe/loop/passes/tile_transposes.h"
#include "lathe/loop/passes/vectorize_loops.h"
#include "lathe/loop/text/parse.h"
#include "lathe/loop/text/print.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/lower/cpu/passes.h"
#include "lathe/lower/gpu/lower.h"
#include "lathe/lower/plan_memory.h"
#include "lathe/opt/passes.h"
#include "lathe/opt/sink_transposes.h"
#include "lathe/wasm/print.h"

namespace lathe::golden {

namespace {

using graph::Graph;

std::string print_graph(const Result<Graph>& graph) {
  return graph ? graph::print(*graph) : concat(graph.error().message, '\n');
}

// Reads the graph and prints it again, or prints why it is refused.
std::string run_print(std::string_view, std::string_view input) {
  return print_graph(graph::parse(input));
}

std::string run_error(std::string_view, std::string_view input) {
  const auto graph = graph::parse(input);
  return graph ? "no error\n" : concat(graph.error().message, '\n');
}

// One pass, or all in their order for --pass=all.
std::string run_opt(std::string_view argument, std::string_view input) {
  auto graph = graph::parse(input);
  if (!graph) return print_graph(graph);
  bool known = false;
  for (const opt::Pass& pass : opt::passes()) {
    const bool wanted = argument == "all" || (pass.name == argument && !known);
    if (!wanted) continue;
    *graph = pass.run(std::move(*graph));
    known = true;
  }
  if (argument == "sink_all_transposes") {  // of those who import
    std::vector<graph::Value> tracked;
    *graph = opt::sink_all_transposes(std::move(*graph), tracked);
    known = true;
  }
  if (!known) return concat("there is no pass ", argument, '\n');
  const Status sound = graph::verify(*graph);
  return sound ? graph::print(*graph) : concat(sound.error().message, '\n');
}

// Differentiates the output "loss" by every f32 input and state, then removes what is not needed.
std::string run_grad(std::string_view, std::string_view input) {
  auto parsed = graph::parse(input);
  if (!parsed) return print_graph(parsed);
  graph::Tensor loss;
  graph::Builder builder(std::move(*parsed));
  std::vector<graph::Tensor> wrt;
  std::vector<std::string> names;
  for (const graph::Output& output : builder.graph().outputs) {
    if (output.name == "loss") loss = {&builder, output.value};
  }
  if (!loss.valid()) return "the graph has no output \"loss\"\n";
  for (int32_t id = 0; id < static_cast<int32_t>(builder.graph().nodes.size()); ++id) {
    const graph::Node& node = builder.graph().nodes[id];
    const bool source = node.kind == graph::Kind::Input || node.kind == graph::Kind::State;
    if (!source || node.dtype != graph::DType::F32) continue;
    wrt.push_back({&builder, {id}});
    names.push_back(node.name);
  }
  const auto gradients = grad::gradients(builder, loss, wrt);
  for (size_t i = 0; i < names.size(); ++i) {
    builder.output(concat("gradient of ", names[i]), gradients[i]);
  }
  auto graph = std::move(builder).finish();
  if (!graph) return print_graph(graph);
  for (const opt::Pass& pass : opt::passes()) *graph = pass.run(std::move(*graph));
  return graph::print(*graph);
}

struct LoopPass {
  std::string_view name;
  void (*run)(loop::Kernel&);
};

// Kernels worth 100 ns.
void split_work(loop::Kernel& kernel) { loop::split_work(kernel, 40); }

constexpr LoopPass kLoopPasses[] = {
    {"collapse_loops", loop::collapse_loops},
    {"expand_transcendentals", loop::expand_transcendentals},
    {"split_guards", loop::split_guards},
    {"tile_transposes",
     [](loop::Kernel& kernel) { loop::tile_transposes(kernel, lower::cpu::kLanes); }},
    {"vectorize_loops",
     [](loop::Kernel& kernel) { loop::vectorize_loops(kernel, lower::cpu::kLanes); }},
    {"hoist_guards", loop::hoist_guards},
    {"bind_grid", [](loop::Kernel& kernel) { loop::bind_grid(kernel); }},
    {"split_work", split_work},
};

std::string run_loop(std::string_view argument, std::string_view input) {
  auto module = loop::parse(input);
  if (!module) return concat(module.error().message, '\n');
  for (const LoopPass& pass : kLoopPasses) {
    if (pass.name != argument) continue;
    for (loop::Entry& entry : module->entries) {
      for (loop::Kernel& kernel : entry.kernels) pass.run(kernel);
    }
    const Status sound = loop::verify(*module);
    return sound ? loop::print(*module) : concat(sound.error().message, '\n');
  }
  return concat("there is no pass ", argument, '\n');
}

// Graph -> scheduled loops, as the compiler does it.
std::string run_lower(std::string_view, std::string_view input) {
  auto graph = graph::parse(input);
  if (!graph) return print_graph(graph);
  loop::Module module = lower::cpu::lower({{lower::cpu::prepare(std::move(*graph))}});
  for (loop::Kernel& kernel : module.entries[0].kernels) {
    loop::collapse_loops(kernel);
    loop::expand_transcendentals(kernel);
    loop::vectorize_loops(kernel, lower::cpu::kLanes);
  }
  const Status sound = loop::verify(module);
  return sound ? loop::print(module) : concat(sound.error().message, '\n');
}

// Graph -> shaders, as the compiler does it; for a device with --pass=subgroups or shader-f16.
std::string run_wgsl(std::string_view argument, std::string_view input) {
  emit_wgsl::Limits limits{.shader_f16 = argument == "shader-f16"};
  if (argument == "subgroups") limits.subgroup_threads = 16;
  auto graph = graph::parse(input);
  if (!graph) return print_graph(graph);
  loop::Module module = lower::gpu::lower(
      {{std::move(*graph)}}, {limits.threads, limits.shared_bytes, limits.subgroup_threads});
  for (loop::Kernel& kernel : module.entries[0].kernels) {
    loop::collapse_loops(kernel);
    loop::bind_grid(kernel);
  }
  if (const Status sound = loop::verify(module, limits.shader_f16); !sound)
    return concat(sound.error().message, '\n');
  const auto plan = lower::plan_relocatable_memory(module, emit_wgsl::storage_of({}));
  if (!plan) return concat(plan.error().message, '\n');
  const auto shaders = emit_wgsl::emit_program(module, *plan, limits);
  return shaders ? emit_wgsl::text(*shaders) : concat(shaders.error().message, '\n');
}

// Loops -> WebAssembly text, for --pass=scalar, simd, relaxed or threads.
std::string run_emit(std::string_view argument, std::string_view input) {
  const auto loops = loop::parse(input);
  if (!loops) return concat(loops.error().message, '\n');
  if (const Status sound = loop::verify(*loops); !sound) return concat(sound.error().message, '\n');
  const auto plan = lower::plan_memory(*loops);
  if (!plan) return concat(plan.error().message, '\n');
  const emit_wasm::Target target{.simd = argument != "scalar",
                                 .relaxed_simd = argument == "relaxed",
                                 .threads = argument == "threads"};
  const auto module =
      emit_wasm::emit_module(*loops, {{plan->offsets}, plan->total_bytes}, {}, {}, target);
  return module ? wasm::print(*module) : concat(module.error().message, '\n');
}

constexpr Run kRuns[] = {
    {"print", run_print}, {"error", run_error}, {"opt", run_opt},   {"grad", run_grad},
    {"loop", run_loop},   {"lower", run_lower}, {"emit", run_emit}, {"wgsl", run_wgsl},
};

}  // namespace

std::span<const Run> runs() { return kRuns; }

}  // namespace lathe::golden
