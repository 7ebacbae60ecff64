// Threads that run an entry together: they share the memory and take its tasks one by one. Nobody
// waits for a thread that has not come yet; whoever comes late joins where the others are. It knows
// nothing of what the tasks do.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "emit/wasm/kernel.h"

namespace lathe::emit {

// Uses the first 64 bytes of the memory.
class ThreadsEmitter {
 public:
  explicit ThreadsEmitter(wasm::ModuleBuilder& module_builder);

  // Exports a function (may_wait: i32) -> () that any number of threads call. It returns when the
  // run is over: all tasks are done. A thread with may_wait = 0 spins where others sleep.
  void emit_entry(std::string_view name, std::span<const Phase> phases);

  // Exports "threads.begin" (entry: i32) -> (), which starts a run of the entry of this number when
  // the one before is over, and "threads.abort" () -> (), which sends all threads home after the
  // task they are at.
  void finish();

 private:
  void emit_take();
  void emit_advance();
  void emit_wait();

  wasm::ModuleBuilder& module_builder_;
  uint32_t take_ = 0;     // (work) -> (whether it was still so, and the task is taken)
  uint32_t advance_ = 0;  // (phase that is done) -> ()
  uint32_t wait_ = 0;     // (phase, may_wait) -> ()
  uint32_t phases_ = 0;
  std::vector<uint32_t> first_phases_;  // of each entry
};

// Phases of one task each become one where they follow each other: a single thread runs them, in
// order. Phases without tasks are left out.
std::vector<Phase> merged(std::vector<Phase> phases);

}  // namespace lathe::emit
