#include "lathe/loop/analysis/vector_registers.h"

#include "lathe/base/table.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

void mark_lanes(const std::vector<Stmt>& body, Table<VarId, bool>& is_lane) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == StmtKind::For && stmt.loop == LoopKind::Vector) is_lane[stmt.var] = true;
    mark_lanes(stmt.body, is_lane);
  }
}

}  // namespace

Table<BufferId, int64_t> vector_registers(const Kernel& kernel) {
  Table<VarId, bool> is_lane(kernel.vars.size());
  Table<BufferId, int64_t> result(kernel.registers.size());
  mark_lanes(kernel.body, is_lane);
  const auto mark = [&](BufferRef buffer, const Affine& address) {
    if (buffer.space != Space::Register) return;
    for (const Term& term : address.terms) {
      if (is_lane[term.var]) result[buffer.id] = kernel.vars[term.var].extent;
    }
  };
  for_each_store(kernel.body, [&](const Stmt& stmt) { mark(stmt.buffer, stmt.address); });
  for (const Expr& expr : kernel.exprs) {
    if (expr.kind == ExprKind::Load) mark(expr.buffer, expr.address);
  }
  return result;
}

}  // namespace lathe::loop
