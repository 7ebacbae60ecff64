#include "random_programs.h"

#include <cstring>

#include "lathe/base/text.h"
#include "lathe/emit/wasm/module.h"
#include "lathe/emit/wgsl/module.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/expand_transcendentals.h"
#include "lathe/loop/passes/split_work.h"
#include "lathe/loop/passes/vectorize_loops.h"
#include "lathe/loop/rebuild.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/plan_memory.h"
#include "lathe/wasm/encode.h"
#include "random_graph.h"
#include "random_module.h"

namespace lathe::ops_tests {

Status run_random_graph(uint32_t seed, Manifest& manifest) {
  graph::RandomGraph random(seed);
  const graph::Graph graph = random.make(8 + static_cast<int>(seed % 25));
  Expectation test;
  test.name = concat("graph_", seed);
  test.inputs = random.values(graph, graph::Kind::Input);
  test.states = random.values(graph, graph::Kind::State);
  Outcome& expected = test.expected.emplace_back();
  expected.states = test.states;
  LATHE_ASSIGN_OR_RETURN(expected.outputs, graph::evaluate(graph, test.inputs, expected.states));
  graph::Program program;
  program.entries.push_back(graph);
  LATHE_TRY(check_passes(program, test, {&compile::wasm_target(), &compile::webgpu_target()}));
  return manifest.add(test, program);
}

namespace {

// Registers start with anything: here each function starts by clearing those it uses.
void clear_registers(loop::Kernel& kernel, std::vector<loop::Stmt>& function) {
  std::vector<bool> used(kernel.registers.size());
  const auto visit = [&](const auto& self, std::vector<loop::Stmt>& stmts) -> void {
    for (loop::Stmt& stmt : stmts) {
      if (stmt.outlined) {
        clear_registers(kernel, stmt.body);
        continue;
      }
      if (stmt.kind == loop::StmtKind::Store && stmt.buffer.space == loop::Space::Register) {
        used[static_cast<size_t>(stmt.buffer.id)] = true;
      }
      self(self, stmt.body);
    }
  };
  visit(visit, function);
  loop::ExprBuilder exprs(kernel);
  std::vector<loop::Stmt> clears;
  for (size_t id = 0; id < used.size(); ++id) {
    if (!used[id]) continue;
    const loop::ExprId zero = exprs.constant(loop::Number::from(kernel.registers[id].dtype, 0));
    for (int64_t at = 0; at < kernel.registers[id].size; ++at) {
      clears.push_back(loop::store({loop::Space::Register, static_cast<int32_t>(id)}, at, zero));
    }
  }
  function.insert(function.begin(), clears.begin(), clears.end());
}

// Every buffer but the constants becomes a state, so that all contents are set and compared.
void show_everything(loop::Module& module) {
  module.states.clear();
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    loop::Buffer& buffer = module.buffers[id];
    if (buffer.role == loop::BufferRole::Constant) continue;
    buffer.role = loop::BufferRole::State;
    module.states.push_back({concat('s', id), {buffer.size}, static_cast<int32_t>(id)});
  }
  for (loop::Entry& entry : module.entries) {
    entry.inputs.clear();
    entry.outputs.clear();
  }
}

loop::Module prepared_module(uint32_t seed, loop::Types types) {
  loop::Module module = loop::random_module(seed, types);
  show_everything(module);
  for (loop::Entry& entry : module.entries) {
    for (loop::Kernel& kernel : entry.kernels) {
      clear_registers(kernel, kernel.body);
      loop::expand_transcendentals(kernel);
      if (seed % 2 == 0) loop::vectorize_loops(kernel, lower::cpu::kLanes);
    }
  }
  return module;
}

Result<Outcome> run_entry(const loop::Module& module, std::string_view entry,
                          const Arrays& states) {
  loop::Memory memory(module);
  for (const loop::Port& port : module.states) {
    const std::vector<std::byte>& data = states.at(port.name).data;
    std::memcpy(memory.bytes(port.buffer).data(), data.data(), data.size());
  }
  LATHE_TRY(loop::run(module, entry, memory));
  Outcome outcome;
  for (const loop::Port& port : module.states) {
    const auto bytes = memory.bytes(port.buffer);
    outcome.states[port.name] = {
        states.at(port.name).dtype, port.shape, {bytes.begin(), bytes.end()}};
  }
  outcome.irregular = memory.met_irregular();
  return outcome;
}

Result<compile::Executable> emit(const loop::Module& module, const Variant& variant) {
  LATHE_ASSIGN_OR_RETURN(const lower::MemoryPlan plan, lower::plan_memory(module));
  compile::Executable executable;
  executable.code = std::make_shared<compile::WasmCode>();
  executable.memory_bytes = plan.total_bytes;
  executable.wasm().threads = variant.features.threads;
  for (const loop::Port& port : module.states) {
    const auto id = static_cast<size_t>(port.buffer);
    executable.states.push_back(
        {port.name, module.buffers[id].dtype, port.shape, static_cast<uint32_t>(plan.offsets[id])});
  }
  for (const loop::Entry& entry : module.entries)
    executable.entries.push_back({entry.name, 1, 0, {}, {}});
  LATHE_ASSIGN_OR_RETURN(const wasm::Module bytes,
                         emit_wasm::emit_module(module, {{plan.offsets}, plan.total_bytes}, {}, {},
                                                {.simd = variant.features.simd,
                                                 .relaxed_simd = variant.features.relaxed_simd,
                                                 .threads = variant.features.threads}));
  executable.wasm().code = wasm::encode_without_data(bytes);
  executable.wasm().data = bytes.data;
  return executable;
}

Result<compile::Executable> emit_wgsl(loop::Module module) {
  for (loop::Entry& entry : module.entries) {
    for (loop::Kernel& kernel : entry.kernels) loop::bind_grid(kernel);
  }
  LATHE_ASSIGN_OR_RETURN(const lower::MemoryPlan plan,
                         lower::plan_relocatable_memory(module, emit_wgsl::storage_of({})));
  compile::Executable executable;
  executable.code = std::make_shared<compile::ShaderCode>();
  for (const loop::Port& port : module.states) {
    const auto id = static_cast<size_t>(port.buffer);
    executable.states.push_back({port.name, module.buffers[id].dtype, port.shape, 0});
  }
  for (const loop::Entry& entry : module.entries)
    executable.entries.push_back({entry.name, 1, 0, {}, {}});
  LATHE_ASSIGN_OR_RETURN(compile::shaders(executable).program,
                         emit_wgsl::emit_program(module, plan));
  return executable;
}

}  // namespace

namespace {

Status run_module(uint32_t seed, loop::Types types, Manifest& manifest) {
  const loop::Module module = prepared_module(seed, types);
  LATHE_TRY(loop::verify(module));
  loop::Module split = module;
  for (loop::Entry& entry : split.entries) {
    for (loop::Kernel& kernel : entry.kernels) loop::split_work(kernel, kSplitAlways);
  }
  LATHE_TRY(loop::verify(split));
  Expectation test;
  test.name = concat(types == loop::Types::All ? "typed_module_" : "module_", seed);
  test.exact = true;
  std::mt19937 random(seed);
  for (const loop::Port& port : module.states) {
    const DType dtype = module.buffers[static_cast<size_t>(port.buffer)].dtype;
    test.states[port.name] = random_array(dtype, port.shape, random);
  }
  for (const loop::Entry& entry : module.entries) {
    LATHE_ASSIGN_OR_RETURN(Outcome outcome, run_entry(module, entry.name, test.states));
    LATHE_ASSIGN_OR_RETURN(const Outcome shared, run_entry(split, entry.name, test.states));
    LATHE_TRY(compare(outcome, shared));
    test.irregular |= outcome.irregular;
    test.expected.push_back(std::move(outcome));
  }
  for (const Variant& variant : kVariants) {
    if (variant.features.relaxed_simd) continue;                   // rounds fused products once
    if (variant.features.wide_lanes) continue;                     // only lowering requests it
    if (variant.placement != compile::Placement::Fixed) continue;  // emitted without the pipeline
    const bool threads = variant.features.threads;
    LATHE_ASSIGN_OR_RETURN(const compile::Executable executable,
                           emit(threads ? split : module, variant));
    manifest.add(test, variant.name, executable);
  }
  if (types == loop::Types::OfShaders) manifest.add_shaders(test, emit_wgsl(module));
  return {};
}

}  // namespace

Status run_random_module(uint32_t seed, Manifest& manifest) {
  return run_module(seed, loop::Types::OfShaders, manifest);
}

Status run_typed_module(uint32_t seed, Manifest& manifest) {
  return run_module(seed, loop::Types::All, manifest);
}

}  // namespace lathe::ops_tests
