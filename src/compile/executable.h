// What the compiler makes of a program: what every target has in common (entries with their ports,
// states, memory), and the code of one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lathe/base/json_writer.h"
#include "lathe/compile/index_ranges.h"
#include "lathe/graph/graph.h"
#include "lathe/lower/cpu/schedule.h"
#include "lathe/wasm/encode.h"

namespace lathe::compile {

// A tensor between calls or at one: row-major, little-endian, Bool one byte an element. `offset` is
// its address in the memory of a module.
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

// The code of a target.
struct Code {
  virtual ~Code() = default;
};

// The module exports `memory`, a function per entry, and for every buffer an immutable i32 global
// with its offset: "ENTRY.NAME" for inputs and outputs, "NAME" for states. The custom section
// "tensorlathe" contains metadata() as JSON. With timing it imports "env" "now" () -> f64, which
// returns milliseconds, and exports "ENTRY.times".
struct WasmCode : Code {
  // The module and its data segments, separately: large constants are not copied.
  wasm::Encoded code;
  std::vector<wasm::Data> data;
  bool threads = false;  // whether threads may share the entries
  // Relocatable: the module imports "env" "memory", data have offsets from the base of the
  // constants, whose bytes are zero before, and an entry is a function (scratch, constants, each
  // state, each input, each output: i32) -> () of bases, multiples of 64. For threads it is as in
  // any executable for them, and finds its bases as in emit/wasm/module.h.
  bool relocatable = false;
  std::vector<lower::cpu::ScheduledContraction> contractions;  // in the order they run, by entry

  std::vector<uint8_t> module() const;
};

// A compiled program: what all targets share, and the code of one of them.
struct Executable {
  std::vector<Entry> entries;
  std::vector<Buffer> states;
  uint64_t memory_bytes = 0;
  uint64_t temporary_bytes = 0;  // of them; what the kernels of an entry share, at its peak
  uint64_t constant_bytes = 0;
  std::string notes;  // of the program
  std::vector<PassTime> times;
  std::shared_ptr<Code> code;  // of the target that it was compiled for

  WasmCode& wasm() { return static_cast<WasmCode&>(*code); }
  const WasmCode& wasm() const { return static_cast<const WasmCode&>(*code); }
  // The bytes of a WebAssembly module that is not relocatable.
  std::vector<uint8_t> module() const { return wasm().module(); }
};

// {"version":1,"memoryBytes":…,"temporaryBytes":…,"threads":…,"entries":[{"name","threads","work","inputs":[{"name","dtype","shape","offset"}],"outputs":[…]}],"states":[…]}
// With timing entries have "times":{"offset","parts":[…]} too, then the program's notes.
// `more` writes further members of a state.
using WriteMembers = std::function<void(const Buffer&, JsonWriter&)>;
std::string metadata(const Executable& executable, const WriteMembers& more = {});
// The member "ranges" of a buffer: [[low, high, first, step]…] as IndexRange, if it has any.
void write_ranges(JsonWriter& json, const Buffer& buffer);

}  // namespace lathe::compile
