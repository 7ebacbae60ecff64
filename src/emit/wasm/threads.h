// Threads that run an entry together: they share the memory and take its tasks, several at a time
// as long as many are left. Nobody waits for a thread that has not come yet; whoever comes late
// joins where the others are. It knows nothing of what the tasks do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit {

// Uses the first 192 bytes of the memory.
class ThreadsEmitter {
 public:
  // `first_phase`: the global with the number of the module's first phase, where modules that share
  // the memory have phases of their own: a thread that comes late finds none of its module's then.
  explicit ThreadsEmitter(wasm::ModuleBuilder& module_builder,
                          std::optional<uint32_t> first_phase = {});

  // Exports a function (how: i32) -> i32 that any number of threads call. It returns 1 when the run
  // is over: all tasks are done. It returns 0 when it has waited for the tasks of others some tens
  // of microseconds, or a tenth of a second if it may sleep; 2 where nothing comes after those.
  // how: the sum of 1, may sleep; 2, takes the last tasks first; 4, is the thread of a run that was
  // begun for one, which returns when all is done.
  void emit_entry(std::string_view name, std::span<const Phase> phases);

  // Exports "threads.begin" (entry: i32, threads: i32) -> (), which starts a run of the entry of
  // this number, by about so many threads, when the one before is over; a run for one is over for
  // all others. And "threads.abort" () -> (), which sends all threads home after the tasks they
  // have taken.
  void finish();

 private:
  void emit_take();
  void emit_advance();
  void emit_wait();
  void push_phase(wasm::FunctionBuilder& code, uint32_t phase) const;

  wasm::ModuleBuilder& module_builder_;
  const std::optional<uint32_t> first_phase_;
  uint32_t take_ = 0;     // (work, from_back, all) -> (which tasks are taken, or why none)
  uint32_t advance_ = 0;  // (phase that is done) -> ()
  uint32_t wait_ = 0;     // (phase, may_sleep) -> (whether to look again)
  uint32_t phases_ = 0;
  std::vector<uint32_t> first_phases_;  // of each entry
};

// Phases of one task each become one where they follow each other: a single thread runs them, in
// order. Phases without tasks are left out.
std::vector<Phase> merged(std::vector<Phase> phases);

}  // namespace lathe::emit
