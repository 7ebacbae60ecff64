// Loop module -> WebAssembly module: one function per kernel, one export per entry, every buffer at
// a fixed address.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit_wasm {

// The initial contents of a buffer, encoded as a data segment.
struct Content {
  int32_t buffer;
  SharedBytes data;
};

// A table of f64 counters of an entry: the number of calls and the accumulated milliseconds of each
// part.
struct Times {
  uint64_t offset = 0;
  std::vector<std::string> parts;  // of its kernels, each once

  uint64_t bytes() const { return 8 * (1 + parts.size()); }
};

struct Layout {
  Placement placement;
  uint64_t total_bytes = 0;                // where addresses are fixed
  bool shared_memory = false;              // even of a module for one thread
  std::span<const Times> times = {};       // one for each entry; none: nothing is measured
  std::vector<Origin>* origins = nullptr;  // where those of all kernels are recorded
  bool is_stoppable = false;               // whether entries call "env" "check" () -> ()
};

// Where there are times it imports a clock, "env" "now" () -> (milliseconds: f64), exports the
// offset of every table of times ("ENTRY.times"), and is for one thread.
// A stoppable module calls "env" "check" () -> () before every kernel, at the head of every
// iteration of a repeat and, for threads, before every phase; the host throws in it to stop a run.
// Exports `memory`, a function () -> () per entry (for threads: emit/wasm/threads.h, and the memory
// is shared and imported as "env" "memory"), and an i32 global with the offset of every input
// ("ENTRY.NAME"), output and state (its name). `metadata` becomes the custom section "tensorlathe".
// Errors: indices beyond 32 bits; a Vector loop whose width is not kVectorLanes.
//
// Where buffers have bases the memory is imported as "env" "memory", of any size, and the module
// data have offsets from the base of the constants, which the owner of the memory adds. Each entry
// is a function (scratch, constants, each state, each of its inputs, each of its outputs: i32) ->
// (); no offset is exported. Without times or contents. For threads these bases are stored in the
// memory after the control block, 4 bytes each, and "env" "firstPhase" (i32) is imported
// (emit/wasm/threads.h).
Result<wasm::Module> emit_module(const loop::Module& module, const Layout& layout,
                                 std::span<const Content> contents, std::string_view metadata,
                                 Target target);

}  // namespace lathe::emit_wasm
