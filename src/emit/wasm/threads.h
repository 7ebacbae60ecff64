// Threads that run an entry together: they share the memory, take tasks by counting and wait for
// each other at barriers. It knows nothing of what the tasks do.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "emit/wasm/kernel.h"

namespace lathe::emit {

// Uses the first 64 bytes of the memory, which start as zeros and are zeros between runs but for
// the number of the last barrier.
class ThreadsEmitter {
 public:
  // Exports "threads.abort" () -> (), which ends every run early: threads that wait or come to a
  // barrier return; and "threads.reset" () -> (), to call when the last of them has returned.
  explicit ThreadsEmitter(wasm::ModuleBuilder& module_builder);

  // Exports a function (threads: i32) -> () that this many threads call once each. Only one that is
  // called with more than one thread waits.
  void emit_entry(std::string_view name, std::span<const Phase> phases);

 private:
  void emit_arrive();
  void emit_barrier();
  void emit_abort();
  void emit_reset();

  wasm::ModuleBuilder& module_builder_;
  uint32_t arrive_ = 0;   // (threads) -> (whether it was the last)
  uint32_t barrier_ = 0;  // (threads) -> (whether the run was aborted)
};

// Phases of one task each become one where they follow each other: a single thread runs them, in
// order.
std::vector<Phase> merged(std::vector<Phase> phases);

}  // namespace lathe::emit
