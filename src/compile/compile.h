// The full pipeline: from tensor graphs to the bytes of one WebAssembly module, or to the shaders
// of a WebGPU program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/json_writer.h"
#include "lathe/base/result.h"
#include "lathe/compile/features.h"
#include "lathe/compile/index_ranges.h"
#include "lathe/emit/wgsl/limits.h"
#include "lathe/graph/graph.h"
#include "lathe/loop/passes/split_work.h"
#include "lathe/lower/cpu/schedule.h"
#include "lathe/lower/gpu/schedule.h"
#include "lathe/wasm/encode.h"

namespace lathe::compile {

using graph::StateContent;

// Addresses of buffers: fixed ones in a memory of the module, or relative to bases that the caller
// of an entry passes, in a memory that many modules share.
enum class Placement : uint8_t { Fixed, Relocatable };

struct Options {
  Features features;
  // Runs the verifier of the IR after every pass.
  bool verify = false;
  // "before:PASS" or "after:PASS"; "after:*" for all. Each match calls on_dump with the IR's text.
  // "only:PASS" dumps the state before it and stops: the executable is empty.
  std::vector<std::string> dumps;
  std::function<void(std::string_view when, std::string_view text)> on_dump;
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

// The address of a tensor in the module's memory; row-major, little-endian, Bool one byte an
// element.
struct Buffer {
  std::string name;
  graph::DType dtype;
  graph::Shape shape;
  uint32_t offset;                      // bytes; 0 where the executable is relocatable
  std::vector<IndexRange> ranges = {};  // of an input
};

// One exported function `name`: () -> (). The caller writes inputs, calls, reads outputs. In an
// executable for threads it is (how: i32) -> (is_over: i32), see emit/wasm/threads.h, and the
// memory a shared one that the module imports, "env" "memory".
struct Entry {
  std::string name;
  int threads = 1;  // more than these have too little to do
  double work = 0;  // nanoseconds that one thread needs, as loop/work guesses
  std::vector<Buffer> inputs, outputs;
  // With timing: f64 at this offset, the number of calls and then the milliseconds of each part.
  uint32_t times = 0;
  std::vector<std::string> parts = {};  // "forward dense_1", "backward dense_1", "update dense_1"…
};

struct PassTime {
  std::string pass;
  double milliseconds;
};

// The module exports `memory`, a function per entry, and for every buffer an immutable i32 global
// with its offset: "ENTRY.NAME" for inputs and outputs, "NAME" for states. The custom section
// "tensorlathe" contains metadata() as JSON. With timing it imports "env" "now" () -> f64, which
// returns milliseconds, and exports "ENTRY.times".
struct Executable {
  // The module and its data segments, separately: large constants are not copied.
  wasm::Encoded code;
  std::vector<wasm::Data> data;
  std::vector<uint8_t> module() const { return wasm::with_data(code, data); }  // if not relocatable

  std::vector<Entry> entries;
  std::vector<Buffer> states;
  uint64_t memory_bytes = 0;
  uint64_t temporary_bytes = 0;  // of them; what the kernels of an entry share, at its peak
  bool threads = false;          // whether threads may share the entries
  // Relocatable: the module imports "env" "memory", data have offsets from the base of the
  // constants, whose bytes are zero before, and an entry is a function (scratch, constants, each
  // state, each input, each output: i32) -> () of bases, multiples of 64. For threads it is as in
  // any executable for them, and finds its bases as in emit/wasm/module.h.
  bool relocatable = false;
  uint64_t constant_bytes = 0;
  std::string notes;  // of the program
  std::vector<PassTime> times;
  std::vector<lower::cpu::ScheduledContraction> contractions;  // in the order they run, by entry
};

Result<Executable> compile(graph::Program program, const Options& options);

// {"version":1,"memoryBytes":…,"temporaryBytes":…,"threads":…,"entries":[{"name","threads","work","inputs":[{"name","dtype","shape","offset"}],"outputs":[…]}],"states":[…]}
// With timing entries have "times":{"offset","parts":[…]} too, then the program's notes.
// `more` writes further members of a state.
using WriteMembers = std::function<void(const Buffer&, JsonWriter&)>;
std::string metadata(const Executable& executable, const WriteMembers& more = {});

// Shaders and the table of what to bind and start, as JSON (emit/wgsl/module.h). Features, times
// and contents belong to WebAssembly.
Result<std::string> compile_to_wgsl(const graph::Program& program, const Options& options);

enum class Target : uint8_t { Wasm, Wgsl };

// The names of the passes of compile() in the order they run.
std::vector<std::string_view> pass_names();

}  // namespace lathe::compile
