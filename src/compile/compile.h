// The whole pipeline: from tensor graphs to the bytes of one WebAssembly module, or to the shaders
// of a WebGPU program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/compile/features.h"
#include "lathe/compile/index_ranges.h"
#include "lathe/emit/wgsl/limits.h"
#include "lathe/graph/graph.h"
#include "lathe/loop/split_work.h"
#include "lathe/lower/cpu/schedule.h"
#include "lathe/lower/gpu/schedule.h"
#include "lathe/wasm/encode.h"

namespace lathe::compile {

using graph::StateContent;

// Where buffers lie: at addresses of a memory that the module owns, or wherever the caller of an
// entry says, in a memory that many modules share.
enum class Placement : uint8_t { Fixed, Relocatable };

struct Options {
  Features features;
  // Runs the verifier of the IR after every pass.
  bool verify = false;
  // "before:PASS" or "after:PASS"; "after:*" for all. Each match calls on_dump with the IR's text.
  // Behind "only:PASS", the text before it, nothing more is compiled: the executable is empty.
  std::vector<std::string> dumps;
  std::function<void(std::string_view when, std::string_view text)> on_dump;
  // Milliseconds from any origin; when set, Executable::times is filled.
  std::function<double()> clock;
  // A stand-alone module carries these in data segments, so it starts with them.
  std::vector<StateContent> contents;
  lower::cpu::Schedules schedules;
  // Of shaders: what their groups may have, and how contractions are divided among threads.
  emit::wgsl::Limits limits;
  lower::gpu::Schedules thread_schedules;
  // Whether convolutions may be computed by transformed tiles, which round more
  // (lower/cpu/winograd.h).
  bool winograd = true;
  // Whether every entry adds up how long its parts take (graph::Part); on one thread then.
  bool timing = false;
  // Whether the module says which kernel and statement its instructions come from, in a custom
  // section (emit/wasm/origins.h).
  bool origins = false;
  // Relocatable modules have neither contents nor timing. With the feature threads the memory they
  // import is a shared one.
  Placement placement = Placement::Fixed;
  // With the feature threads: nanoseconds that a kernel must take one thread to be split.
  double worth_splitting = loop::kWorthSplitting;
};

// Where a tensor lies in the module's memory; row-major, little-endian, Bool one byte an element.
struct Buffer {
  std::string name;
  graph::DType dtype;
  graph::Shape shape;
  uint32_t offset;                      // bytes; 0 where the executable is relocatable
  std::vector<IndexRange> ranges = {};  // of an input
};

// One exported function `name`: () -> (). The caller writes inputs, calls, reads outputs. In an
// executable for threads it is (how: i32) -> (is_over: i32), as emit/wasm/threads.h says, and the
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
// "tensorlathe" holds metadata() as JSON. With timing it imports "env" "now" () -> f64, which gives
// milliseconds, and exports "ENTRY.times".
struct Executable {
  // The module and what fills its memory, apart: large constants are not copied.
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
  // any executable for them, and finds its bases where emit/wasm/module.h says.
  bool relocatable = false;
  uint64_t constant_bytes = 0;
  std::string notes;  // of the program
  std::vector<PassTime> times;
  std::vector<lower::cpu::ScheduledContraction> contractions;  // in the order they run, by entry
};

Result<Executable> compile(graph::Program program, const Options& options);

// {"version":1,"memoryBytes":…,"temporaryBytes":…,"threads":…,"entries":[{"name","threads","work","inputs":[{"name","dtype","shape","offset"}],"outputs":[…]}],"states":[…]}
// With timing entries have "times":{"offset","parts":[…]} too. Behind it come the program's notes.
// `more` gives further members of a state: `,"key":value`.
std::string metadata(const Executable& executable,
                     const std::function<std::string(const Buffer&)>& more = {});

// Shaders and the table of what to bind and start, as JSON (emit/wgsl/module.h). Features, times
// and contents belong to WebAssembly.
Result<std::string> compile_to_wgsl(const graph::Program& program, const Options& options);

enum class Target : uint8_t { Wasm, Wgsl };

// The names of the passes of compile() in the order they run.
std::vector<std::string_view> pass_names();

}  // namespace lathe::compile
