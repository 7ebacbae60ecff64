#include "lathe/emit/wasm/threads.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "lathe/base/check.h"

namespace lathe::emit_wasm {

using wasm::FunctionBuilder;
using wasm::Opcode;
using wasm::ValType;

namespace {

// Words of shared memory, in bytes, in three cache lines: what every task writes, what every thread
// writes when it has completed some, and what waiting threads read.
enum Word : uint64_t {
  kWork = 0,   // i64: the phase in the upper 32 bits, below it the tasks dequeued from either end
  kDone = 64,  // completed tasks of the phase
  kGeneration = 128,  // changes when waiting threads should re-check
  kSleepers = 132,    // threads that wait for kGeneration to change
  kClosed = 136,      // aborted, or begun for one thread: for all others the run is over
  kShares = 140,      // a thread dequeues 1/kShares of the remaining tasks
};

// Spins on the generation before a thread returns: some tens of microseconds. One that may sleep
// spins longer, about as long as waking costs.
constexpr int32_t kSpins = 40000;
constexpr int32_t kSleeperSpins = 200000;
// Nanoseconds after which a sleeping thread returns, because others may have terminated.
constexpr int64_t kLongestSleep = 100'000'000;
constexpr int32_t kTimedOut = 2;  // what memory.atomic.wait32 returns then

// The result of threads.take: the number of tasks in the upper 16 bits and the first one in the
// lower; or kNone if none is left, or kLost if another thread was faster.
constexpr int32_t kHalf = 16;  // bits
constexpr int32_t kNone = -2;
constexpr int32_t kLost = -1;
constexpr uint32_t kMaxTasks = 0x7fff;  // of a phase

// What an entry returns.
constexpr int32_t kMoreToCome = 0;
constexpr int32_t kOver = 1;
constexpr int32_t kEnding = 2;

// Bits of an entry's parameter.
constexpr int32_t kMaySleep = 1;
constexpr int32_t kFromBack = 2;
constexpr int32_t kSingleThread = 4;

FunctionBuilder& read(FunctionBuilder& code, Word cell) {
  return code.i32_const(0).op_memory(Opcode::i32_atomic_load, {.offset = cell});
}

FunctionBuilder& write(FunctionBuilder& code, Word cell, int32_t value) {
  return code.i32_const(0).i32_const(value).op_memory(Opcode::i32_atomic_store, {.offset = cell});
}

// Leaves the old value on the stack.
FunctionBuilder& add(FunctionBuilder& code, Word cell, int32_t value) {
  return code.i32_const(0).i32_const(value).op_memory(Opcode::i32_atomic_rmw_add, {.offset = cell});
}

FunctionBuilder& phase_of_work(FunctionBuilder& code) {
  code.i32_const(0).op_memory(Opcode::i64_atomic_load, {.offset = kWork});
  return code.i64_const(32).op(Opcode::i64_shr_u).op(Opcode::i32_wrap_i64);
}

void wake_all(FunctionBuilder& code) {
  add(code, kGeneration, 1).op(Opcode::drop);
  read(code, kSleepers).if_().i32_const(0).i32_const(-1);
  code.op_memory(Opcode::memory_atomic_notify, {.offset = kGeneration}).op(Opcode::drop).end();
}

uint32_t count_of(const Phase& phase) {
  uint32_t count = 0;
  for (const Tasks& tasks : phase) count += tasks.count;
  LATHE_CHECK(count <= kMaxTasks);
  return count;
}

bool is_single(const Phase& phase) { return phase.size() == 1 && phase[0].count == 1; }

}  // namespace

ThreadsEmitter::ThreadsEmitter(wasm::ModuleBuilder& module_builder,
                               std::optional<uint32_t> first_phase, std::optional<uint32_t> check)
    : module_builder_(module_builder), first_phase_(first_phase), check_(check) {
  emit_dequeue();
  emit_advance();
  emit_wait();
}

// The index of the phase among those of all modules.
void ThreadsEmitter::push_phase(FunctionBuilder& code, uint32_t phase) const {
  code.i32_const(static_cast<int32_t>(phase));
  if (first_phase_) code.op_index(Opcode::global_get, *first_phase_).op(Opcode::i32_add);
}

// Half of the threads dequeue tasks in order, half in reverse: so each accesses the same part
// of the data from phase to phase, with little traffic between caches. Each dequeues 1/kShares
// of the remaining tasks, at least one: as few accesses to kWork, which also moves between caches,
// as leave all threads busy to the end (Polychronopoulos, Kuck, "Guided self-scheduling", IEEE
// Transactions on Computers 36(12), 1987).
void ThreadsEmitter::emit_dequeue() {
  FunctionBuilder& code = module_builder_.add_function(
      "threads.take", {ValType::i64, ValType::i32, ValType::i32}, {ValType::i32});
  dequeue_ = code.index();
  const uint32_t front = code.add_local(ValType::i32), back = code.add_local(ValType::i32);
  const uint32_t left = code.add_local(ValType::i32), count = code.add_local(ValType::i32);
  code.op_index(Opcode::local_get, 2);
  code.op_index(Opcode::local_get, 0).op(Opcode::i32_wrap_i64).i32_const((1 << kHalf) - 1);
  code.op(Opcode::i32_and).op_index(Opcode::local_tee, front).op(Opcode::i32_sub);
  code.op_index(Opcode::local_get, 0).op(Opcode::i32_wrap_i64).i32_const(kHalf);
  code.op(Opcode::i32_shr_u).op_index(Opcode::local_tee, back).op(Opcode::i32_sub);
  code.op_index(Opcode::local_tee, left).op(Opcode::i32_eqz);
  code.if_().i32_const(kNone).op(Opcode::return_).end();
  code.op_index(Opcode::local_get, left);
  read(code, kShares).op(Opcode::i32_div_u).op_index(Opcode::local_tee, count);
  code.i32_const(1).op_index(Opcode::local_get, count).op(Opcode::select);
  code.op_index(Opcode::local_set, count);
  code.i32_const(0).op_index(Opcode::local_get, 0).op_index(Opcode::local_get, 0);
  code.op_index(Opcode::local_get, count).op_index(Opcode::local_get, 1).i32_const(0);
  code.op(Opcode::i32_ne).i32_const(kHalf).op(Opcode::i32_mul).op(Opcode::i32_shl);
  code.op(Opcode::i64_extend_i32_u);
  code.op(Opcode::i64_add).op_memory(Opcode::i64_atomic_rmw_cmpxchg, {.offset = kWork});
  code.op_index(Opcode::local_get, 0).op(Opcode::i64_ne);
  code.if_().i32_const(kLost).op(Opcode::return_).end();
  code.op_index(Opcode::local_get, front).op_index(Opcode::local_get, left).op(Opcode::i32_add);
  code.op_index(Opcode::local_get, count).op(Opcode::i32_sub);
  code.op_index(Opcode::local_get, front).op_index(Opcode::local_get, 1).op(Opcode::select);
  code.op_index(Opcode::local_get, count).i32_const(kHalf).op(Opcode::i32_shl).op(Opcode::i32_or);
}

// No thread completes a task of the next phase before the phase is published.
void ThreadsEmitter::emit_advance() {
  FunctionBuilder& code = module_builder_.add_function("threads.advance", {ValType::i32}, {});
  advance_ = code.index();
  write(code, kDone, 0);
  code.i32_const(0).op_index(Opcode::local_get, 0).i32_const(1).op(Opcode::i32_add);
  code.op(Opcode::i64_extend_i32_u).i64_const(32).op(Opcode::i64_shl);
  code.op_memory(Opcode::i64_atomic_store, {.offset = kWork});
  wake_all(code);
}

// Returns 1 when the phase has changed or the run is aborted. Both happen before the generation
// changes, and are checked after it is read; so no thread waits for a change that has happened
// already. Returns 0 at a timeout.
void ThreadsEmitter::emit_wait() {
  FunctionBuilder& code =
      module_builder_.add_function("threads.wait", {ValType::i32, ValType::i32}, {ValType::i32});
  wait_ = code.index();
  const uint32_t generation = code.add_local(ValType::i32);
  const uint32_t spins = code.add_local(ValType::i32);
  code.loop();
  read(code, kGeneration).op_index(Opcode::local_set, generation);
  phase_of_work(code).op_index(Opcode::local_get, 0).op(Opcode::i32_ne);
  read(code, kClosed).op(Opcode::i32_or).if_().i32_const(1).op(Opcode::return_).end();
  code.i32_const(kSleeperSpins).i32_const(kSpins).op_index(Opcode::local_get, 1);
  code.op(Opcode::select).op_index(Opcode::local_set, spins).loop();
  read(code, kGeneration).op_index(Opcode::local_get, generation).op(Opcode::i32_ne).br_if(1);
  code.op_index(Opcode::local_get, spins).i32_const(1).op(Opcode::i32_sub);
  code.op_index(Opcode::local_tee, spins).br_if(0).end();
  code.op_index(Opcode::local_get, 1).op(Opcode::i32_eqz).if_().i32_const(0);
  code.op(Opcode::return_).end();
  add(code, kSleepers, 1).op(Opcode::drop);
  code.i32_const(0).op_index(Opcode::local_get, generation).i64_const(kLongestSleep);
  code.op_memory(Opcode::memory_atomic_wait32, {.offset = kGeneration});
  add(code, kSleepers, -1).op(Opcode::drop);
  code.i32_const(kTimedOut).op(Opcode::i32_ne).br_if(0).end().i32_const(0);
}

//   loop
//     work = what there is to do; return 1 if it is of another entry or closed to this thread
//     block none
//       block ran
//         switch (phase) {
//           case p: if (no task left) br none; dequeue some or retry; run each; br ran
//         }
//       end
//       if ((done += dequeued) == all of the phase) advance
//       br loop
//     end
//     wait for the next phase
//     br loop, unless patience is over
//   end
//   whether it was the last phase
void ThreadsEmitter::emit_entry(std::string_view name, std::span<const Phase> phases) {
  FunctionBuilder& code =
      module_builder_.add_function(std::string(name), {ValType::i32}, {ValType::i32});
  module_builder_.export_function(name, code.index());
  const uint32_t work = code.add_local(ValType::i64), phase = code.add_local(ValType::i32);
  const uint32_t task = code.add_local(ValType::i32), all = code.add_local(ValType::i32);
  const uint32_t dequeued = code.add_local(ValType::i32), last = code.add_local(ValType::i32);
  const uint32_t from_back = code.add_local(ValType::i32);
  const uint32_t first = phases_;
  const auto count = static_cast<uint32_t>(phases.size());
  first_phases_.push_back(phases_);
  phases_ += count + 1;  // the last one is none: the run is over
  if (count == 0) {
    code.i32_const(kOver);
    return;
  }

  code.op_index(Opcode::local_get, 0).i32_const(kFromBack).op(Opcode::i32_and);
  code.op_index(Opcode::local_set, from_back);
  code.loop();
  if (check_) code.call(*check_);
  code.i32_const(0).op_memory(Opcode::i64_atomic_load, {.offset = kWork});
  code.op_index(Opcode::local_tee, work).i64_const(32).op(Opcode::i64_shr_u);
  push_phase(code.op(Opcode::i32_wrap_i64), first);
  code.op(Opcode::i32_sub);
  code.op_index(Opcode::local_tee, phase).i32_const(static_cast<int32_t>(count));
  code.op(Opcode::i32_ge_u);
  read(code, kClosed).op_index(Opcode::local_get, 0).i32_const(kSingleThread).op(Opcode::i32_and);
  code.op(Opcode::i32_eqz).op(Opcode::i32_and).op(Opcode::i32_or);
  code.if_().i32_const(kOver).op(Opcode::return_).end();

  code.block().block();
  std::vector<uint32_t> cases;
  for (uint32_t p = 0; p < count; ++p) cases.push_back(p);
  for (uint32_t p = 0; p < count; ++p) code.block();
  code.op_index(Opcode::local_get, phase).br_table(cases, count - 1);
  for (uint32_t p = 0; p < count; ++p) {
    const uint32_t ran = count - 1 - p, none = ran + 1, retry = ran + 2;
    const auto total = static_cast<int32_t>(count_of(phases[p]));
    code.end();
    code.op_index(Opcode::local_get, work).op_index(Opcode::local_get, from_back);
    code.i32_const(total).call(dequeue_).op_index(Opcode::local_tee, task);
    code.i32_const(kNone).op(Opcode::i32_eq).br_if(none);
    code.op_index(Opcode::local_get, task).i32_const(0).op(Opcode::i32_lt_s).br_if(retry);
    code.i32_const(total).op_index(Opcode::local_set, all);
    code.op_index(Opcode::local_get, task).i32_const(kHalf).op(Opcode::i32_shr_u);
    code.op_index(Opcode::local_tee, dequeued);
    code.op_index(Opcode::local_get, task).i32_const((1 << kHalf) - 1).op(Opcode::i32_and);
    code.op_index(Opcode::local_tee, task).op(Opcode::i32_add).op_index(Opcode::local_set, last);
    code.loop().block();
    uint32_t begin = 0;
    for (const Tasks& tasks : phases[p]) {
      const uint32_t end = begin + tasks.count;
      code.op_index(Opcode::local_get, task).i32_const(static_cast<int32_t>(end));
      code.op(Opcode::i32_lt_u).if_();
      for (const uint32_t function : tasks.functions) {
        code.op_index(Opcode::local_get, task).i32_const(static_cast<int32_t>(begin));
        code.op(Opcode::i32_sub).call(function);
      }
      code.br(1).end();
      begin = end;
    }
    code.end().op_index(Opcode::local_get, task).i32_const(1).op(Opcode::i32_add);
    code.op_index(Opcode::local_tee, task).op_index(Opcode::local_get, last).op(Opcode::i32_lt_u);
    code.br_if(0).end().br(ran);
  }
  code.end().i32_const(0).op_index(Opcode::local_get, dequeued);
  code.op_memory(Opcode::i32_atomic_rmw_add, {.offset = kDone})
      .op_index(Opcode::local_get, dequeued);
  code.op(Opcode::i32_add).op_index(Opcode::local_get, all).op(Opcode::i32_eq).if_();
  push_phase(code.op_index(Opcode::local_get, phase), first);
  code.op(Opcode::i32_add).call(advance_).end();
  code.br(1).end();
  push_phase(code.op_index(Opcode::local_get, phase), first);
  code.op(Opcode::i32_add)
      .op_index(Opcode::local_get, 0)
      .i32_const(kMaySleep)
      .op(Opcode::i32_and)
      .call(wait_)
      .br_if(0)
      .end();
  code.i32_const(kEnding).i32_const(kMoreToCome).op_index(Opcode::local_get, phase);
  code.i32_const(static_cast<int32_t>(count) - 1).op(Opcode::i32_eq).op(Opcode::select);
}

void ThreadsEmitter::finish() {
  FunctionBuilder& begin =
      module_builder_.add_function("threads.begin", {ValType::i32, ValType::i32}, {});
  module_builder_.export_function(begin.name(), begin.index());
  begin.i32_const(0).op_index(Opcode::local_get, 1).i32_const(1).op(Opcode::i32_eq);
  begin.op_memory(Opcode::i32_atomic_store, {.offset = kClosed});
  write(begin, kDone, 0);
  begin.i32_const(0).op_index(Opcode::local_get, 1).i32_const(1).op(Opcode::i32_shl).i32_const(1);
  begin.op(Opcode::i32_sub).op_memory(Opcode::i32_atomic_store, {.offset = kShares});
  for (size_t entry = 0; entry < first_phases_.size(); ++entry) {
    begin.op_index(Opcode::local_get, 0).i32_const(static_cast<int32_t>(entry));
    begin.op(Opcode::i32_eq).if_();
    push_phase(begin.i32_const(0), first_phases_[entry]);
    begin.op(Opcode::i64_extend_i32_u).i64_const(32).op(Opcode::i64_shl);
    begin.op_memory(Opcode::i64_atomic_store, {.offset = kWork}).end();
  }
  FunctionBuilder& abort = module_builder_.add_function("threads.abort", {}, {});
  module_builder_.export_function(abort.name(), abort.index());
  write(abort, kClosed, 1);
  wake_all(abort);
}

std::vector<Phase> merged(std::vector<Phase> phases) {
  std::vector<Phase> result;
  for (Phase& phase : phases) {
    if (count_of(phase) == 0) continue;
    if (!result.empty() && is_single(result.back()) && is_single(phase)) {
      std::ranges::move(phase[0].functions, std::back_inserter(result.back()[0].functions));
    } else {
      result.push_back(std::move(phase));
    }
  }
  return result;
}

}  // namespace lathe::emit_wasm
