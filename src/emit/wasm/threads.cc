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
  kNext = 0,        // the task that is taken next
  kArrived = 4,     // threads at the barrier
  kGeneration = 8,  // barriers passed
  kSleepers = 12,   // threads that wait for kGeneration to change
  kAborted = 16,
};

// Looks at the barrier before a thread sleeps: some ten microseconds, about what waking costs.
constexpr int32_t kSpins = 10000;
constexpr int32_t kNoTask = 1 << 30;

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

FunctionBuilder& wake_all(FunctionBuilder& code) {
  return code.i32_const(0)
      .i32_const(-1)
      .op_memory(Opcode::memory_atomic_notify, {.offset = kGeneration})
      .op(Opcode::drop);
}

bool is_single(const Phase& phase) { return phase.size() == 1 && phase[0].count == 1; }

}  // namespace

ThreadsEmitter::ThreadsEmitter(wasm::ModuleBuilder& module_builder)
    : module_builder_(module_builder) {
  emit_arrive();
  emit_barrier();
  emit_abort();
  emit_reset();
}

// The last one leaves the cells as the next phase or run wants them.
void ThreadsEmitter::emit_arrive() {
  FunctionBuilder& code =
      module_builder_.add_function("threads.arrive", {ValType::i32}, {ValType::i32});
  arrive_ = code.index();
  add(code, kArrived, 1).i32_const(1).op(Opcode::i32_add);
  code.op_index(Opcode::local_get, 0).op(Opcode::i32_ne).if_();
  code.i32_const(0).op(Opcode::return_).end();
  write(code, kArrived, 0);
  write(code, kNext, 0);
  code.i32_const(1);
}

// A thread reads the generation before it looks for an abort, and an abort is said before it
// changes the generation; so nobody waits for a change that has been.
void ThreadsEmitter::emit_barrier() {
  FunctionBuilder& code =
      module_builder_.add_function("threads.barrier", {ValType::i32}, {ValType::i32});
  barrier_ = code.index();
  const uint32_t generation = code.add_local(ValType::i32);
  const uint32_t spins = code.add_local(ValType::i32);
  read(code, kGeneration).op_index(Opcode::local_set, generation);
  read(code, kAborted).if_().i32_const(1).op(Opcode::return_).end();

  code.op_index(Opcode::local_get, 0).call(arrive_).if_();
  code.i32_const(0).op_index(Opcode::local_get, generation).i32_const(1).op(Opcode::i32_add);
  code.op_memory(Opcode::i32_atomic_store, {.offset = kGeneration});
  read(code, kSleepers).if_();
  wake_all(code).end();
  code.i32_const(0).op(Opcode::return_).end();

  code.i32_const(kSpins).op_index(Opcode::local_set, spins);
  const auto passed = [&]() -> FunctionBuilder& {
    return read(code, kGeneration).op_index(Opcode::local_get, generation).op(Opcode::i32_ne);
  };
  code.block().loop();
  passed().br_if(1);
  code.op_index(Opcode::local_get, spins).i32_const(1).op(Opcode::i32_sub);
  code.op_index(Opcode::local_tee, spins).br_if(0).end();
  add(code, kSleepers, 1).op(Opcode::drop).loop();
  code.i32_const(0).op_index(Opcode::local_get, generation).i64_const(-1);
  code.op_memory(Opcode::memory_atomic_wait32, {.offset = kGeneration}).op(Opcode::drop);
  passed().op(Opcode::i32_eqz).br_if(0).end();
  add(code, kSleepers, -1).op(Opcode::drop).end();
  read(code, kAborted);
}

void ThreadsEmitter::emit_abort() {
  FunctionBuilder& code = module_builder_.add_function("threads.abort", {}, {});
  module_builder_.export_function(code.name(), code.index());
  write(code, kAborted, 1);
  write(code, kNext, kNoTask);
  add(code, kGeneration, 1).op(Opcode::drop);
  wake_all(code);
}

void ThreadsEmitter::emit_reset() {
  FunctionBuilder& code = module_builder_.add_function("threads.reset", {}, {});
  module_builder_.export_function(code.name(), code.index());
  for (const Cell cell : {kNext, kArrived, kGeneration, kSleepers, kAborted}) write(code, cell, 0);
}

//   while (task = next++, task < all) { if (task < 8) first(task) else if (task < 9) … }
void ThreadsEmitter::emit_entry(std::string_view name, std::span<const Phase> phases) {
  FunctionBuilder& code = module_builder_.add_function(std::string(name), {ValType::i32}, {});
  module_builder_.export_function(name, code.index());
  const uint32_t task = code.add_local(ValType::i32);
  for (size_t i = 0; i < phases.size(); ++i) {
    if (i > 0) {
      code.op_index(Opcode::local_get, 0).call(barrier_).if_().op(Opcode::return_).end();
    }
    code.loop();
    add(code, kNext, 1).op_index(Opcode::local_set, task);
    uint32_t begin = 0;
    for (const Tasks& tasks : phases[i]) {
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
    code.end();
  }
  code.op_index(Opcode::local_get, 0).call(arrive_).op(Opcode::drop);
}

std::vector<Phase> merged(std::vector<Phase> phases) {
  std::vector<Phase> result;
  for (Phase& phase : phases) {
    if (!result.empty() && is_single(result.back()) && is_single(phase)) {
      std::ranges::move(phase[0].functions, std::back_inserter(result.back()[0].functions));
    } else {
      result.push_back(std::move(phase));
    }
  }
  return result;
}

}  // namespace lathe::emit
