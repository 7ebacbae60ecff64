// Threads that run an entry together: they share the memory and dequeue its tasks, several at a
// time while many are left. No thread waits for one that has not entered yet; a thread that enters
// late joins the current phase. Independent of what the tasks compute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit_wasm {

// Uses the control block of loop/control_block.def, the first bytes of the memory.
class ThreadsEmitter {
 public:
  // `check`: a function () -> () that every thread calls before it takes tasks of a phase.
  // `first_phase`: the global with the index of the module's first phase, if modules that share
  // the memory have disjoint phases: a thread that enters late then sees no phase of its module.
  explicit ThreadsEmitter(wasm::ModuleBuilder& module_builder,
                          std::optional<uint32_t> first_phase = {},
                          std::optional<uint32_t> check = {});

  // Exports a function (flags: i32) -> (state: i32) that any number of threads call; flags and
  // states are those of loop/control_block.def. It returns when all tasks are done, or when it has
  // waited for the tasks of others some tens of microseconds, or a tenth of a second if it may
  // sleep.
  void emit_entry(std::string_view name, std::span<const Phase> phases);

  // Exports "threads.begin" (entry: i32, threads: i32) -> (), which starts a run of the entry of
  // this index, by about so many threads, when the previous one is over; a run for one is over for
  // all others. And "threads.abort" () -> (), after which all threads return when the tasks that
  // they have dequeued are done.
  void finish();

 private:
  void emit_dequeue();
  void emit_advance();
  void emit_wait();
  wasm::FunctionBuilder& push_phase(wasm::FunctionBuilder& f, uint32_t phase) const;

  wasm::ModuleBuilder& module_builder_;
  const std::optional<uint32_t> first_phase_, check_;
  uint32_t dequeue_ = 0;  // (work, from_back, all) -> (which tasks are dequeued, or why none)
  uint32_t advance_ = 0;  // (phase that is done) -> ()
  uint32_t wait_ = 0;     // (phase, may_sleep) -> (whether to re-check)
  uint32_t phases_ = 0;
  std::vector<uint32_t> first_phases_;  // of each entry
};

// Merges consecutive phases of one task each, which a single thread runs in order. Phases without
// tasks are dropped.
std::vector<Phase> merged(std::vector<Phase> phases);

}  // namespace lathe::emit_wasm
