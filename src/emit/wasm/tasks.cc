// A kernel as tasks that threads share: each Parallel nest and each run of other statements becomes
// a function of the task's number.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/emit/wasm/kernel.h"
#include "lathe/loop/control_block.h"

namespace lathe::emit_wasm {

using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using wasm::Opcode;
using wasm::ValType;

namespace {

constexpr uint32_t kTask = 0;  // the parameter

bool is_parallel(const Stmt& stmt) { return stmt.loop == LoopKind::Parallel; }

// Outermost first.
std::vector<const Stmt*> parallel_loops(const Stmt& outermost) {
  std::vector<const Stmt*> loops = {&outermost};
  while (loops.back()->body.size() == 1 && is_parallel(loops.back()->body[0])) {
    loops.push_back(&loops.back()->body[0]);
  }
  return loops;
}

}  // namespace

void load_base(wasm::FunctionBuilder& code, int32_t base) {
  const uint64_t offset = loop::kControlBytes + 4 * static_cast<uint64_t>(base);
  code.i32_const(0).op_memory(Opcode::i32_load, {.offset = offset});
}

std::vector<Phase> KernelEmitter::emit_phases(TaskOrder& order) {
  const std::span<const Stmt> body = kernel_.body;
  if (std::ranges::none_of(body, is_parallel)) return {{emit_task(body)}};
  std::vector<Phase> phases(1);
  for (size_t i = 0; i < body.size();) {
    size_t end = i;
    while (end < body.size() && !is_parallel(body[end]) && body[end].kind != StmtKind::Barrier) {
      ++end;
    }
    if (end > i) {
      phases.back().push_back(emit_task(body.subspan(i, end - i)));
      i = end;
    } else if (body[i].kind == StmtKind::Barrier) {
      phases.emplace_back();
      ++i;
    } else {
      phases.back().push_back(emit_parallel(body[i++], order));
    }
  }
  return phases;
}

void KernelEmitter::begin_task() {
  drop_pairs();
  scope_ = {};
  scope_.function = &module_builder_.add_function(concat(kernel_.name, ".task", task_count_++),
                                                  {ValType::i32}, {});
  mark_origin();
  for (const int32_t base : bases_used()) {
    const uint32_t local = scope_.inductions[{{}, base}] = acquire(ValType::i32);
    load_base(code(), base);
    code().op_index(Opcode::local_set, local);
  }
}

Tasks KernelEmitter::emit_task(std::span<const Stmt> stmts) {
  begin_task();
  emit_body(stmts);
  return {{code().index()}, 1};
}

Tasks KernelEmitter::emit_parallel(const Stmt& outermost, TaskOrder& order) {
  const std::vector<const Stmt*> loops = parallel_loops(outermost);
  const Stmt& innermost = *loops.back();
  begin_task();
  // Splits the task number into loop indices, innermost loop first; the remainder is that of the
  // slowest.
  const size_t slowest = order.slowest(kernel_, loops);
  std::vector<uint32_t> starts(loops.size(), kTask);
  int64_t count = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    const int64_t extent = kernel_.vars[static_cast<size_t>(loops[i]->var)].extent;
    const int64_t chunks = (extent + loops[i]->grain - 1) / loops[i]->grain;
    count *= chunks;
    if (i == slowest || count == 0) continue;
    starts[i] = acquire(ValType::i32);
    const auto divisor = static_cast<int32_t>(chunks);
    code().op_index(Opcode::local_get, kTask).i32_const(divisor).op(Opcode::i32_rem_u);
    code().op_index(Opcode::local_set, starts[i]);
    code().op_index(Opcode::local_get, kTask).i32_const(divisor).op(Opcode::i32_div_u);
    code().op_index(Opcode::local_set, kTask);
  }
  if (count == 0) return {{code().index()}, 0};
  const uint32_t counter = emit_count(innermost, starts.back());
  if (!innermost.outlined) hoist_constants(innermost);
  std::vector<std::set<InductionVariable>> moving;
  for (size_t i = 0; i < loops.size(); ++i) moving.push_back(open_loop(*loops[i], starts[i]));
  emit_iterations(innermost, innermost.outlined, moving.back(), counter);
  for (; !moving.empty(); moving.pop_back()) close_loop(moving.back());
  return {{code().index()}, static_cast<uint32_t>(count)};
}

// Converts `start` from grains to iterations. Returns a local with the number of iterations
// from there on, up to a grain.
uint32_t KernelEmitter::emit_count(const Stmt& loop, uint32_t start) {
  const int64_t extent = kernel_.vars[static_cast<size_t>(loop.var)].extent;
  const auto grain = static_cast<int32_t>(loop.grain);
  if (grain != 1) {
    code().op_index(Opcode::local_get, start).i32_const(grain).op(Opcode::i32_mul);
    code().op_index(Opcode::local_set, start);
  }
  const uint32_t count = acquire(ValType::i32);
  code().i32_const(grain);
  if (extent % grain != 0) {
    code().i32_const(static_cast<int32_t>(extent)).op_index(Opcode::local_get, start);
    code().op(Opcode::i32_sub).op_index(Opcode::local_tee, count);
    code().i32_const(grain).op_index(Opcode::local_get, count);
    code().op(Opcode::i32_lt_s).op(Opcode::select);
  }
  code().op_index(Opcode::local_set, count);
  return count;
}

}  // namespace lathe::emit_wasm
