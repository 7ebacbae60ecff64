// A target as a value: the passes that turn a program into an executable for it, in order, and the
// state of a compilation between them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/compile/compile.h"
#include "lathe/loop/loop.h"
#include "lathe/lower/plan_memory.h"

namespace lathe::compile {

// The IR of the program at this stage; dumps and verification are of that IR.
enum class Form { Graph, Loop, Code };

// The code of a target while passes work on it.
class CodeState {
 public:
  virtual ~CodeState() = default;
  // For dumps.
  virtual std::string text() const = 0;
  // Error: the code is invalid.
  virtual Status verify(const Options& options) const = 0;
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
  std::unique_ptr<CodeState> code;  // null where it is not dumped
  Executable executable;
};

struct Pass {
  std::string_view name;
  std::function<Status(CompilationState&)> run;
};

// What does not refer to a target links nothing of it.
struct Target {
  std::string_view name;
  std::shared_ptr<Code> (*make_code)();  // of an executable, before the passes
  std::vector<Pass> passes;
};

const Target& wasm_target();
const Target& webgpu_target();
// The same for graphs that are optimized(), and without dumps of shaders: pages load no more.
const Target& webgpu_codegen();

// Passes of all targets.
Pass on_graphs(std::string_view name, graph::Graph (*run)(graph::Graph));
Pass on_kernels(std::string_view name, void (*run)(loop::Kernel&));
Pass on_modules(std::string_view name, void (*run)(loop::Module&));
// Those of opt/passes.h: all, and the last ones.
std::vector<Pass> optimizations();
std::vector<Pass> type_passes();
// The end of a pass from graphs to loops.
void set_loops(CompilationState& state, loop::Module loops);
// The last step of one that plans memory: ports and states of the executable, by plan.offsets.
void describe_ports(CompilationState& state);

// Runs passes on the program, in order. `after` is called after each pass. An error of it ends the
// run, and is prefixed with the name of the pass.
using AfterPass = std::function<Status(const CompilationState& state)>;
Result<CompilationState> run_passes(graph::Program program, const Options& options,
                                    const Target& target, const AfterPass& after = {});
// Up to the first pass whose name begins with `end`.
Target truncated(const Target& target, std::string_view end);

// Error: the IR of the current form is invalid.
Status verify(const CompilationState& state);

}  // namespace lathe::compile
