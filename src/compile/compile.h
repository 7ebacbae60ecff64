// The full pipeline: from tensor graphs to an executable for a target (target.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/compile/executable.h"
#include "lathe/compile/features.h"
#include "lathe/emit/wgsl/limits.h"
#include "lathe/graph/graph.h"
#include "lathe/loop/passes/split_work.h"
#include "lathe/lower/cpu/schedule.h"
#include "lathe/lower/gpu/schedule.h"

namespace lathe::compile {

using graph::StateContent;

struct CompilationState;
struct Target;
const Target& wasm_target();

// Addresses of buffers: fixed ones in a memory of the module, or relative to bases that the caller
// of an entry passes, in a memory that many modules share.
enum class Placement : uint8_t { Fixed, Relocatable };

struct Options {
  Features features;
  // Runs the verifier of the IR after every pass.
  bool verify = false;
  // "before:PASS" or "after:PASS"; "after:*" for all. Each match calls on_dump with the state,
  // which compile::text (target.h) prints: what prints nothing links no printer. "only:PASS" dumps
  // the state before it and stops: the executable is empty.
  std::vector<std::string> dumps;
  std::function<void(std::string_view when, const CompilationState& state)> on_dump;
  // Milliseconds from any origin; when set, Executable::times is filled.
  std::function<double()> clock;
  // A standalone module has these in data segments, so it starts with them.
  std::vector<StateContent> contents;
  lower::cpu::Schedules schedules;
  // Of shaders: what their groups may have, and how contractions are divided among threads.
  emit_wgsl::Limits limits;
  lower::gpu::Schedules thread_schedules;
  // Whether convolutions may be computed by transformed tiles, which round more
  // (lower/cpu/winograd.h).
  bool winograd = true;
  // Whether every entry accumulates the time of its parts (graph::Part); then single-threaded.
  bool timing = false;
  // Whether the module maps its instructions to kernels and statements, in a custom
  // section (emit/wasm/origins.h).
  bool origins = false;
  // Whether the module imports "env" "check" () -> () and calls it between kernels and at each step
  // of a loop that data ends: the host throws in it to stop a run (emit/wasm/module.h).
  bool stoppable = false;
  // Relocatable modules have neither contents nor timing. With the feature threads the memory they
  // import is a shared one.
  Placement placement = Placement::Fixed;
  // With the feature threads: the single-threaded time of a kernel, in nanoseconds, from which it
  // is split.
  double worth_splitting = loop::kWorthSplitting;
};

// Errors: those of the passes; unknown dumps.
Result<Executable> compile(graph::Program program, const Options& options,
                           const Target& target = wasm_target());

// The graph after the passes of opt/passes.h that leave types as they are. `keeps_float16`: also
// those of constants, for targets that have the type.
graph::Graph optimized(graph::Graph graph, bool keeps_float16 = false);

// The IR of the current form as text, for dumps.
std::string text(const CompilationState& state);

// The names of the passes in the order they run.
std::vector<std::string_view> pass_names(const Target& target = wasm_target());

}  // namespace lathe::compile
