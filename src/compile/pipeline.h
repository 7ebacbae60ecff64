// The pipeline as data: the state of a compilation between passes, and the list of passes in the
// order they run, for each target.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/compile/compile.h"
#include "lathe/emit/wasm/module.h"
#include "lathe/loop/loop.h"
#include "lathe/lower/plan_memory.h"

namespace lathe::compile {

// The IR of the program at this stage; dumps and verification are of that IR.
enum class Form { Graph, Loop, Wasm, Bytes, Shaders };

struct Shaders {
  std::string text, json;
};

// The types of ports by entry and name, of states by "" and name, before passes lowered float16
// to its bits.
using PortTypes = std::map<std::pair<std::string, std::string>, graph::DType>;
PortTypes port_types(const graph::Program& program);

// The state of a compilation between passes. Each pass fills the members of its form.
struct CompilationState {
  const Options& options;
  Form form = Form::Graph;
  graph::Program program;
  PortTypes port_types;
  std::vector<IndexRange> index_ranges;
  loop::Module loops;
  lower::MemoryPlan plan;
  wasm::Module module;
  std::vector<emit_wasm::Origin> origins;
  std::vector<lower::gpu::ScheduledContraction> thread_contractions;  // of shaders
  Shaders shaders;
  Executable executable;
};

struct Pass {
  std::string_view name;
  std::function<Status(CompilationState&)> run;
};

// One function a target: what does not call wgsl_passes() links no code of shaders.
const std::vector<Pass>& wasm_passes();
const std::vector<Pass>& wgsl_passes();

// Runs these passes on the program, in order; in compile.cc. `after` is called after each pass. An
// error of it ends the run, and is prefixed with the name of the pass.
using AfterPass = std::function<Status(const CompilationState& state)>;
Result<CompilationState> run_passes(graph::Program program, const Options& options,
                                    std::span<const Pass> passes, const AfterPass& after = {});

// The IR of the current form as text, for dumps.
std::string text(const CompilationState& state);
// Error: the IR of the current form is invalid.
Status verify(const CompilationState& state);

}  // namespace lathe::compile
