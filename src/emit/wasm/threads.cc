#include "emit/wasm/threads.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace lathe::emit {

using wasm::FunctionBuilder;
using wasm::Opcode;
using wasm::ValType;

namespace {

// Cells of shared memory, in bytes.
enum Cell : uint64_t {
  kWork = 0,         // i64: the phase, in the upper half, and the task that is taken next
  kDone = 8,         // tasks of the phase that are done
  kGeneration = 12,  // changes when waiting threads should look again
  kSleepers = 16,    // threads that wait for kGeneration to change
  kAborted = 20,
};

// Looks at the generation before a thread sleeps: some ten microseconds, about what waking costs.
constexpr int32_t kSpins = 10000;

FunctionBuilder& read(FunctionBuilder& code, Cell cell) {
  return code.i32_const(0).op_memory(Opcode::i32_atomic_load, {.offset = cell});
}

FunctionBuilder& write(FunctionBuilder& code, Cell cell, int32_t value) {
  return code.i32_const(0).i32_const(value).op_memory(Opcode::i32_atomic_store, {.offset = cell});
}

// Leaves the old value on the stack.
FunctionBuilder& add(FunctionBuilder& code, Cell cell, int32_t value) {
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
  return count;
}

bool is_single(const Phase& phase) { return phase.size() == 1 && phase[0].count == 1; }

}  // namespace

ThreadsEmitter::ThreadsEmitter(wasm::ModuleBuilder& module_builder)
    : module_builder_(module_builder) {
  emit_take();
  emit_advance();
  emit_wait();
}

void ThreadsEmitter::emit_take() {
  FunctionBuilder& code =
      module_builder_.add_function("threads.take", {ValType::i64}, {ValType::i32});
  take_ = code.index();
  code.i32_const(0).op_index(Opcode::local_get, 0);
  code.op_index(Opcode::local_get, 0).i64_const(1).op(Opcode::i64_add);
  code.op_memory(Opcode::i64_atomic_rmw_cmpxchg, {.offset = kWork});
  code.op_index(Opcode::local_get, 0).op(Opcode::i64_eq);
}

// Nobody counts a task of the next phase before the phase is there.
void ThreadsEmitter::emit_advance() {
  FunctionBuilder& code = module_builder_.add_function("threads.advance", {ValType::i32}, {});
  advance_ = code.index();
  write(code, kDone, 0);
  code.i32_const(0).op_index(Opcode::local_get, 0).i32_const(1).op(Opcode::i32_add);
  code.op(Opcode::i64_extend_i32_u).i64_const(32).op(Opcode::i64_shl);
  code.op_memory(Opcode::i64_atomic_store, {.offset = kWork});
  wake_all(code);
}

// Until the phase is another or the run is aborted. Both happen before the generation changes, and
// are looked for after it is read; so nobody waits for a change that has been.
void ThreadsEmitter::emit_wait() {
  FunctionBuilder& code =
      module_builder_.add_function("threads.wait", {ValType::i32, ValType::i32}, {});
  wait_ = code.index();
  const uint32_t generation = code.add_local(ValType::i32);
  const uint32_t spins = code.add_local(ValType::i32);
  code.loop();
  read(code, kGeneration).op_index(Opcode::local_set, generation);
  phase_of_work(code).op_index(Opcode::local_get, 0).op(Opcode::i32_ne);
  read(code, kAborted).op(Opcode::i32_or).if_().op(Opcode::return_).end();
  code.i32_const(kSpins).op_index(Opcode::local_set, spins).loop();
  read(code, kGeneration).op_index(Opcode::local_get, generation).op(Opcode::i32_ne).br_if(1);
  code.op_index(Opcode::local_get, spins).i32_const(1).op(Opcode::i32_sub);
  code.op_index(Opcode::local_tee, spins).br_if(0).end();
  code.op_index(Opcode::local_get, 1).if_();
  add(code, kSleepers, 1).op(Opcode::drop);
  code.i32_const(0).op_index(Opcode::local_get, generation).i64_const(-1);
  code.op_memory(Opcode::memory_atomic_wait32, {.offset = kGeneration}).op(Opcode::drop);
  add(code, kSleepers, -1).op(Opcode::drop).end();
  code.br(0).end();
}

//   loop
//     work = what there is to do; return if it is of another entry or aborted
//     block none
//       block ran
//         switch (phase) { case p: if (no task left) br none; take it or start over; run it; br ran
//         }
//       end
//       if (++done == all of the phase) advance
//       br loop
//     end
//     wait for the next phase
//     br loop
void ThreadsEmitter::emit_entry(std::string_view name, std::span<const Phase> phases) {
  FunctionBuilder& code = module_builder_.add_function(std::string(name), {ValType::i32}, {});
  module_builder_.export_function(name, code.index());
  const uint32_t work = code.add_local(ValType::i64), phase = code.add_local(ValType::i32);
  const uint32_t task = code.add_local(ValType::i32), all = code.add_local(ValType::i32);
  const auto first = static_cast<int32_t>(phases_);
  const auto count = static_cast<uint32_t>(phases.size());
  first_phases_.push_back(phases_);
  phases_ += count + 1;  // the last one is none: the run is over
  if (count == 0) return;

  code.loop().i32_const(0).op_memory(Opcode::i64_atomic_load, {.offset = kWork});
  code.op_index(Opcode::local_tee, work).op(Opcode::i32_wrap_i64);
  code.op_index(Opcode::local_set, task);
  code.op_index(Opcode::local_get, work).i64_const(32).op(Opcode::i64_shr_u);
  code.op(Opcode::i32_wrap_i64).i32_const(first).op(Opcode::i32_sub);
  code.op_index(Opcode::local_tee, phase).i32_const(static_cast<int32_t>(count));
  code.op(Opcode::i32_ge_u);
  read(code, kAborted).op(Opcode::i32_or).if_().op(Opcode::return_).end();

  code.block().block();
  std::vector<uint32_t> cases;
  for (uint32_t p = 0; p < count; ++p) cases.push_back(p);
  for (uint32_t p = 0; p < count; ++p) code.block();
  code.op_index(Opcode::local_get, phase).br_table(cases, count - 1);
  for (uint32_t p = 0; p < count; ++p) {
    const uint32_t ran = count - 1 - p, none = ran + 1, again = ran + 2;
    const auto total = static_cast<int32_t>(count_of(phases[p]));
    code.end();
    code.op_index(Opcode::local_get, task).i32_const(total).op(Opcode::i32_ge_u).br_if(none);
    code.op_index(Opcode::local_get, work).call(take_).op(Opcode::i32_eqz).br_if(again);
    code.i32_const(total).op_index(Opcode::local_set, all);
    uint32_t begin = 0;
    for (const Tasks& tasks : phases[p]) {
      const uint32_t end = begin + tasks.count;
      code.op_index(Opcode::local_get, task).i32_const(static_cast<int32_t>(end));
      code.op(Opcode::i32_lt_u).if_();
      for (const uint32_t function : tasks.functions) {
        code.op_index(Opcode::local_get, task).i32_const(static_cast<int32_t>(begin));
        code.op(Opcode::i32_sub).call(function);
      }
      code.br(ran + 1).end();
      begin = end;
    }
    code.br(ran);
  }
  code.end();
  add(code, kDone, 1).i32_const(1).op(Opcode::i32_add).op_index(Opcode::local_get, all);
  code.op(Opcode::i32_eq).if_();
  code.op_index(Opcode::local_get, phase).i32_const(first).op(Opcode::i32_add).call(advance_).end();
  code.br(1).end();
  code.op_index(Opcode::local_get, phase).i32_const(first).op(Opcode::i32_add);
  code.op_index(Opcode::local_get, 0).call(wait_).br(0).end();
}

void ThreadsEmitter::finish() {
  FunctionBuilder& begin = module_builder_.add_function("threads.begin", {ValType::i32}, {});
  module_builder_.export_function(begin.name(), begin.index());
  write(begin, kAborted, 0);
  write(begin, kDone, 0);
  for (size_t entry = 0; entry < first_phases_.size(); ++entry) {
    begin.op_index(Opcode::local_get, 0).i32_const(static_cast<int32_t>(entry));
    begin.op(Opcode::i32_eq).if_();
    begin.i32_const(0).i64_const(static_cast<int64_t>(first_phases_[entry]) << 32);
    begin.op_memory(Opcode::i64_atomic_store, {.offset = kWork}).end();
  }
  FunctionBuilder& abort = module_builder_.add_function("threads.abort", {}, {});
  module_builder_.export_function(abort.name(), abort.index());
  write(abort, kAborted, 1);
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

}  // namespace lathe::emit
