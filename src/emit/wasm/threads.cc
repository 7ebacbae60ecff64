#include "lathe/emit/wasm/threads.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "lathe/base/check.h"
#include "lathe/loop/control_block.h"

namespace lathe::emit_wasm {

using wasm::FunctionBuilder;
using wasm::ValType;

namespace {

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
constexpr int32_t kLowerHalf = (1 << kHalf) - 1;
constexpr int32_t kNone = -2;
constexpr int32_t kLost = -1;
constexpr uint32_t kMaxTasks = 0x7fff;  // of a phase

wasm::MemArg word_at(int32_t word) { return {.offset = static_cast<uint64_t>(word)}; }

FunctionBuilder& load_word(FunctionBuilder& f, int32_t word) {
  using namespace wasm::handles;
  return f(i32::const_, 0)(i32::atomic_load, word_at(word));
}

void store_word(FunctionBuilder& f, int32_t word, int32_t value) {
  using namespace wasm::handles;
  f(i32::const_, 0)(i32::const_, value)(i32::atomic_store, word_at(word));
}

void add_to_word(FunctionBuilder& f, int32_t word, int32_t value) {
  using namespace wasm::handles;
  f(i32::const_, 0)(i32::const_, value)(i32::atomic_rmw_add, word_at(word))(drop);
}

FunctionBuilder& load_work(FunctionBuilder& f) {
  using namespace wasm::handles;
  return f(i32::const_, 0)(i64::atomic_load, word_at(loop::kWork));
}

// Work of the phase on the stack of which no task is dequeued.
FunctionBuilder& begin_work(FunctionBuilder& f) {
  using namespace wasm::handles;
  return f(i64::extend_i32_u)(i64::const_, 32)(i64::shl)(i64::atomic_store, word_at(loop::kWork));
}

FunctionBuilder& phase_of_work(FunctionBuilder& f) {
  using namespace wasm::handles;
  return f(i64::const_, 32)(i64::shr_u)(i32::wrap_i64);
}

void wake_all(FunctionBuilder& f) {
  using namespace wasm::handles;
  add_to_word(f, loop::kGeneration, 1);
  load_word(f, loop::kSleepers).if_();
  f(i32::const_, 0)(i32::const_, -1)(memory::atomic_notify, word_at(loop::kGeneration))(drop).end();
}

uint32_t count_of(const Phase& phase) {
  uint32_t count = 0;
  for (const Tasks& tasks : phase) count += tasks.count;
  LATHE_CHECK(count <= kMaxTasks);
  return count;
}

bool is_single(const Phase& phase) { return phase.size() == 1 && phase[0].count == 1; }

// Runs the tasks of a phase from the one in the local `task` up to the one in the local `last`.
void emit_tasks(FunctionBuilder& f, const Phase& phase, uint32_t task, uint32_t last) {
  using namespace wasm::handles;
  f.loop().block();
  uint32_t begin = 0;
  for (const Tasks& tasks : phase) {
    const uint32_t end = begin + tasks.count;
    f(local::get, task)(i32::const_, static_cast<int32_t>(end))(i32::lt_u).if_();
    for (const uint32_t function : tasks.functions) {
      f(local::get, task)(i32::const_, static_cast<int32_t>(begin))(i32::sub).call(function);
    }
    f.br(1).end();
    begin = end;
  }
  f.end();
  f(local::get, task)(i32::const_, 1)(i32::add)(local::tee, task);
  f(local::get, last)(i32::lt_u).br_if(0).end();
}

}  // namespace

ThreadsEmitter::ThreadsEmitter(wasm::ModuleBuilder& module_builder,
                               std::optional<uint32_t> first_phase, std::optional<uint32_t> check)
    : module_builder_(module_builder), first_phase_(first_phase), check_(check) {
  emit_dequeue();
  emit_advance();
  emit_wait();
}

// The index of the phase among those of all modules.
FunctionBuilder& ThreadsEmitter::push_phase(FunctionBuilder& f, uint32_t phase) const {
  using namespace wasm::handles;
  f(i32::const_, static_cast<int32_t>(phase));
  if (first_phase_) f(global::get, *first_phase_)(i32::add);
  return f;
}

// Half of the threads dequeue tasks in order, half in reverse: so each accesses the same part
// of the data from phase to phase, with little traffic between caches. Each dequeues 1/kShares
// of the remaining tasks, at least one: as few accesses to kWork, which also moves between caches,
// as leave all threads busy to the end (Polychronopoulos, Kuck, "Guided self-scheduling", IEEE
// Transactions on Computers 36(12), 1987).
void ThreadsEmitter::emit_dequeue() {
  using namespace wasm::handles;
  FunctionBuilder& f = module_builder_.add_function(
      "threads.take", {ValType::i64, ValType::i32, ValType::i32}, {ValType::i32});
  dequeue_ = f.index();
  const uint32_t work = 0, from_back = 1, all = 2;
  const uint32_t front = f.add_local(ValType::i32), back = f.add_local(ValType::i32);
  const uint32_t left = f.add_local(ValType::i32), count = f.add_local(ValType::i32);
  // left = all - (front = lower half of work) - (back = upper half of it)
  f(local::get, all);
  f(local::get, work)(i32::wrap_i64)(i32::const_, kLowerHalf)(i32::and_)(local::tee, front);
  f(i32::sub);
  f(local::get, work)(i32::wrap_i64)(i32::const_, kHalf)(i32::shr_u)(local::tee, back);
  f(i32::sub)(local::tee, left);
  // if (left == 0) return kNone
  f(i32::eqz).if_()(i32::const_, kNone)(return_).end();
  // count = left / shares or else 1
  load_word(f(local::get, left), loop::kShares)(i32::div_u)(local::tee, count);
  f(i32::const_, 1)(local::get, count)(select)(local::set, count);
  // if (!compare_exchange(kWork, work, work + (count << (from_back ? kHalf : 0)))) return kLost
  f(i32::const_, 0)(local::get, work)(local::get, work)(local::get, count);
  f(local::get, from_back)(i32::const_, 0)(i32::ne)(i32::const_, kHalf)(i32::mul)(i32::shl);
  f(i64::extend_i32_u)(i64::add)(i64::atomic_rmw_cmpxchg, word_at(loop::kWork));
  f(local::get, work)(i64::ne).if_()(i32::const_, kLost)(return_).end();
  // return (from_back ? front + left - count : front) | count << kHalf
  f(local::get, front)(local::get, left)(i32::add)(local::get, count)(i32::sub);
  f(local::get, front)(local::get, from_back)(select);
  f(local::get, count)(i32::const_, kHalf)(i32::shl)(i32::or_);
}

// No thread completes a task of the next phase before the phase is published.
void ThreadsEmitter::emit_advance() {
  using namespace wasm::handles;
  FunctionBuilder& f = module_builder_.add_function("threads.advance", {ValType::i32}, {});
  advance_ = f.index();
  const uint32_t phase = 0;
  store_word(f, loop::kDone, 0);
  begin_work(f(i32::const_, 0)(local::get, phase)(i32::const_, 1)(i32::add));
  wake_all(f);
}

// Returns 1 when the phase has changed or the run is aborted. Both happen before the generation
// changes, and are checked after it is read; so no thread waits for a change that has happened
// already. Returns 0 at a timeout.
void ThreadsEmitter::emit_wait() {
  using namespace wasm::handles;
  FunctionBuilder& f =
      module_builder_.add_function("threads.wait", {ValType::i32, ValType::i32}, {ValType::i32});
  wait_ = f.index();
  const uint32_t phase = 0, may_sleep = 1;
  const uint32_t generation = f.add_local(ValType::i32), spins = f.add_local(ValType::i32);
  f.loop();
  load_word(f, loop::kGeneration)(local::set, generation);
  // if (phase of work != phase || closed) return 1
  phase_of_work(load_work(f))(local::get, phase)(i32::ne);
  load_word(f, loop::kClosed)(i32::or_).if_()(i32::const_, 1)(return_).end();
  // for (spins = may_sleep ? kSleeperSpins : kSpins; --spins;) check again if it has changed
  f(i32::const_, kSleeperSpins)(i32::const_, kSpins)(local::get, may_sleep)(select);
  f(local::set, spins).loop();
  load_word(f, loop::kGeneration)(local::get, generation)(i32::ne).br_if(1);
  f(local::get, spins)(i32::const_, 1)(i32::sub)(local::tee, spins).br_if(0).end();
  f(local::get, may_sleep)(i32::eqz).if_()(i32::const_, 0)(return_).end();
  // check again unless sleeping has timed out
  add_to_word(f, loop::kSleepers, 1);
  f(i32::const_, 0)(local::get, generation)(i64::const_, kLongestSleep);
  f(memory::atomic_wait32, word_at(loop::kGeneration));
  add_to_word(f, loop::kSleepers, -1);
  f(i32::const_, kTimedOut)(i32::ne).br_if(0).end();
  f(i32::const_, 0);
}

//   loop
//     work = what there is to do; return kOver if it is of another entry or closed to this thread
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
  using namespace wasm::handles;
  FunctionBuilder& f =
      module_builder_.add_function(std::string(name), {ValType::i32}, {ValType::i32});
  module_builder_.export_function(name, f.index());
  const uint32_t flags = 0;
  const uint32_t work = f.add_local(ValType::i64), phase = f.add_local(ValType::i32);
  const uint32_t task = f.add_local(ValType::i32), all = f.add_local(ValType::i32);
  const uint32_t dequeued = f.add_local(ValType::i32), last = f.add_local(ValType::i32);
  const uint32_t from_back = f.add_local(ValType::i32);
  const uint32_t first = phases_;
  const auto count = static_cast<uint32_t>(phases.size());
  first_phases_.push_back(phases_);
  phases_ += count + 1;  // the last one is none: the run is over
  if (count == 0) {
    f(i32::const_, loop::kOver);
    return;
  }

  f(local::get, flags)(i32::const_, loop::kFromBack)(i32::and_)(local::set, from_back);
  f.loop();
  if (check_) f.call(*check_);
  phase_of_work(load_work(f)(local::tee, work));
  push_phase(f, first)(i32::sub)(local::tee, phase);
  f(i32::const_, static_cast<int32_t>(count))(i32::ge_u);
  load_word(f, loop::kClosed);
  f(local::get, flags)(i32::const_, loop::kSingleThread)(i32::and_)(i32::eqz)(i32::and_)(i32::or_);
  f.if_()(i32::const_, loop::kOver)(return_).end();

  f.block().block();
  std::vector<uint32_t> cases;
  for (uint32_t p = 0; p < count; ++p) cases.push_back(p);
  for (uint32_t p = 0; p < count; ++p) f.block();
  f(local::get, phase).br_table(cases, count - 1);
  for (uint32_t p = 0; p < count; ++p) {
    const uint32_t ran = count - 1 - p, none = ran + 1, retry = ran + 2;
    const auto total = static_cast<int32_t>(count_of(phases[p]));
    f.end();
    f(local::get, work)(local::get, from_back)(i32::const_, total).call(dequeue_);
    f(local::tee, task)(i32::const_, kNone)(i32::eq).br_if(none);
    f(local::get, task)(i32::const_, 0)(i32::lt_s).br_if(retry);
    f(i32::const_, total)(local::set, all);
    f(local::get, task)(i32::const_, kHalf)(i32::shr_u)(local::tee, dequeued);
    f(local::get, task)(i32::const_, kLowerHalf)(i32::and_)(local::tee, task);
    f(i32::add)(local::set, last);
    emit_tasks(f, phases[p], task, last);
    f.br(ran);
  }
  f.end();
  f(i32::const_, 0)(local::get, dequeued)(i32::atomic_rmw_add, word_at(loop::kDone));
  f(local::get, dequeued)(i32::add)(local::get, all)(i32::eq).if_();
  push_phase(f(local::get, phase), first)(i32::add).call(advance_).end();
  f.br(1).end();
  push_phase(f(local::get, phase), first)(i32::add);
  f(local::get, flags)(i32::const_, loop::kMaySleep)(i32::and_).call(wait_).br_if(0).end();
  f(i32::const_, loop::kEnding)(i32::const_, loop::kMoreToCome);
  f(local::get, phase)(i32::const_, static_cast<int32_t>(count) - 1)(i32::eq)(select);
}

void ThreadsEmitter::finish() {
  using namespace wasm::handles;
  FunctionBuilder& f =
      module_builder_.add_function("threads.begin", {ValType::i32, ValType::i32}, {});
  module_builder_.export_function(f.name(), f.index());
  const uint32_t entry = 0, threads = 1;
  // closed = threads == 1; done = 0; shares = threads * 2 - 1
  f(i32::const_, 0)(local::get, threads)(i32::const_, 1)(i32::eq);
  f(i32::atomic_store, word_at(loop::kClosed));
  store_word(f, loop::kDone, 0);
  f(i32::const_, 0)(local::get, threads)(i32::const_, 1)(i32::shl)(i32::const_, 1)(i32::sub);
  f(i32::atomic_store, word_at(loop::kShares));
  for (size_t i = 0; i < first_phases_.size(); ++i) {
    f(local::get, entry)(i32::const_, static_cast<int32_t>(i))(i32::eq).if_();
    begin_work(push_phase(f(i32::const_, 0), first_phases_[i])).end();
  }
  FunctionBuilder& abort = module_builder_.add_function("threads.abort", {}, {});
  module_builder_.export_function(abort.name(), abort.index());
  store_word(abort, loop::kClosed, 1);
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
