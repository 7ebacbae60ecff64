#include "lathe/emit/wasm/kernel.h"

#include <algorithm>

#include "lathe/loop/control_block.h"

namespace lathe::emit_wasm {

using loop::Stmt;
using loop::StmtKind;
using wasm::Opcode;
using wasm::ValType;

namespace {

constexpr uint32_t kTask = 0;  // the parameter

bool is_parallel(const Stmt& stmt) { return stmt.loop == loop::LoopKind::Parallel; }

// Outermost first.
std::vector<const Stmt*> parallel_loops(const Stmt& outermost) {
  std::vector<const Stmt*> loops = {&outermost};
  while (loops.back()->body.size() == 1 && is_parallel(loops.back()->body[0])) {
    loops.push_back(&loops.back()->body[0]);
  }
  return loops;
}

// Converts `start` from grains to iterations. Returns a local with the number of iterations from
// there on, up to a grain.
uint32_t emit_count(wasm::FunctionBuilder& code, Locals& locals, int64_t extent, int64_t grain,
                    uint32_t start) {
  const auto most = static_cast<int32_t>(grain);
  if (grain != 1) {
    code.op_index(Opcode::local_get, start).i32_const(most).op(Opcode::i32_mul);
    code.op_index(Opcode::local_set, start);
  }
  const uint32_t count = locals.acquire(ValType::i32);
  code.i32_const(most);
  if (extent % grain != 0) {
    code.i32_const(static_cast<int32_t>(extent)).op_index(Opcode::local_get, start);
    code.op(Opcode::i32_sub).op_index(Opcode::local_tee, count);
    code.i32_const(most).op_index(Opcode::local_get, count);
    code.op(Opcode::i32_lt_s).op(Opcode::select);
  }
  code.op_index(Opcode::local_set, count);
  return count;
}

}  // namespace

void load_base(wasm::FunctionBuilder& code, int32_t base) {
  const uint64_t offset = loop::kControlBytes + 4 * static_cast<uint64_t>(base);
  code.i32_const(0).op_memory(Opcode::i32_load, {.offset = offset});
}

// The bases that the kernel uses, each as an induction variable of no loops.
std::set<InductionVariable> KernelEmitter::bases() const {
  std::set<InductionVariable> result;
  for (const InductionVariable& induction : induction_variables_of(
           context_.module, context_.placement, context_.kernel, context_.kernel.body, {})) {
    if (induction.base >= 0) result.insert({{}, induction.base});
  }
  return result;
}

Callee KernelEmitter::emit() {
  const std::set<InductionVariable> params = bases();
  wasm::FunctionBuilder& code = functions_.add_whole(params.size());
  functions_.mark(code, nullptr);
  FunctionEmitter(context_, functions_, code, params).emit_body(context_.kernel.body);
  Callee result{code.index()};
  for (const InductionVariable& each : params) result.bases.push_back(each.base);
  return result;
}

// Each Parallel nest and each run of other statements becomes a function of the task's number.
std::vector<Phase> KernelEmitter::emit_phases(TaskOrder& order) {
  const std::span<const Stmt> body = context_.kernel.body;
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

void KernelEmitter::load_bases(wasm::FunctionBuilder& code, FunctionEmitter& task) const {
  for (const InductionVariable& base : bases()) {
    const uint32_t local = task.locals().acquire(ValType::i32);
    load_base(code, base.base);
    code.op_index(Opcode::local_set, local);
    task.addresses().bind(base, local);
  }
}

Tasks KernelEmitter::emit_task(std::span<const Stmt> stmts) {
  wasm::FunctionBuilder& code = functions_.add_task();
  functions_.mark(code, nullptr);
  FunctionEmitter task(context_, functions_, code, {});
  load_bases(code, task);
  task.emit_body(stmts);
  return {{code.index()}, 1};
}

Tasks KernelEmitter::emit_parallel(const Stmt& outermost, TaskOrder& order) {
  const std::vector<const Stmt*> loops = parallel_loops(outermost);
  wasm::FunctionBuilder& code = functions_.add_task();
  functions_.mark(code, nullptr);
  FunctionEmitter task(context_, functions_, code, {});
  load_bases(code, task);
  // Splits the task number into loop indices, innermost loop first; the remainder is that of the
  // slowest.
  const size_t slowest = order.slowest(context_.kernel, loops);
  std::vector<uint32_t> starts(loops.size(), kTask);
  int64_t count = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    const int64_t extent = context_.extent(loops[i]->var);
    const int64_t chunks = (extent + loops[i]->grain - 1) / loops[i]->grain;
    count *= chunks;
    if (i == slowest || count == 0) continue;
    starts[i] = task.locals().acquire(ValType::i32);
    const auto divisor = static_cast<int32_t>(chunks);
    code.op_index(Opcode::local_get, kTask).i32_const(divisor).op(Opcode::i32_rem_u);
    code.op_index(Opcode::local_set, starts[i]);
    code.op_index(Opcode::local_get, kTask).i32_const(divisor).op(Opcode::i32_div_u);
    code.op_index(Opcode::local_set, kTask);
  }
  if (count == 0) return {{code.index()}, 0};
  const Stmt& innermost = *loops.back();
  const uint32_t iterations = emit_count(code, task.locals(), context_.extent(innermost.var),
                                         innermost.grain, starts.back());
  task.emit_parallel(loops, starts, iterations);
  return {{code.index()}, static_cast<uint32_t>(count)};
}

}  // namespace lathe::emit_wasm
