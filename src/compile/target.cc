#include "lathe/compile/target.h"

#include <utility>

#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/print.h"
#include "lathe/opt/passes.h"
#include "lathe/opt/widen_float16.h"

namespace lathe::compile {

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

namespace {

std::vector<Pass> of(std::span<const opt::Pass> graph_passes) {
  std::vector<Pass> passes;
  for (const opt::Pass& pass : graph_passes) passes.push_back(on_graphs(pass.name, pass.run));
  return passes;
}

}  // namespace

std::vector<Pass> optimizations() { return of(opt::passes()); }
std::vector<Pass> type_passes() { return of(opt::type_passes()); }

graph::Graph optimized(graph::Graph graph, bool keeps_float16) {
  const std::span all = opt::passes();
  for (const opt::Pass& pass : all.first(all.size() - opt::type_passes().size())) {
    const bool widens = pass.run == opt::widen_float16;
    const auto run = widens && keeps_float16 ? opt::widen_float16_but_constants : pass.run;
    graph = run(std::move(graph));
  }
  return graph;
}

void set_loops(CompilationState& state, loop::Module loops) {
  state.loops = std::move(loops);
  state.program = {};  // the loops share the data of its large constants
  state.form = Form::Loop;
}

namespace {

// The type, shape and offset of a port. `entry`: the name of its entry, or "" for a state.
Buffer buffer_of(const CompilationState& state, const std::string& entry, const loop::Port& port) {
  const auto offset = state.plan.offsets[static_cast<size_t>(port.buffer)];
  return {port.name, state.port_types.at({entry, port.name}), port.shape,
          static_cast<uint32_t>(offset)};
}

}  // namespace

void describe_ports(CompilationState& state) {
  Executable& executable = state.executable;
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
}

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

Target truncated(const Target& target, std::string_view end) {
  Target shorter = target;
  std::erase_if(shorter.passes, [&, is_over = false](const Pass& pass) mutable {
    return is_over |= pass.name.starts_with(end);
  });
  return shorter;
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
    case Form::Code:
      if (state.code) out = state.code->text();
      break;
  }
  return out;
}

// Does nothing in the compiler's WebAssembly build: there the engine that runs the code validates
// it.
Status verify([[maybe_unused]] const CompilationState& state) {
#ifndef __wasm__
  switch (state.form) {
    case Form::Graph:
      for (const graph::Graph& entry : state.program.entries) LATHE_TRY(graph::verify(entry));
      return {};
    case Form::Loop:
      return loop::verify(state.loops, state.options.limits.shader_f16);
    case Form::Code:
      return state.code ? state.code->verify(state.options) : Status();
  }
#endif
  return {};
}

}  // namespace lathe::compile
