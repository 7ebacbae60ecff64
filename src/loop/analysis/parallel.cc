#include "lathe/loop/analysis/parallel.h"

#include <algorithm>

#include "lathe/base/table.h"
#include "lathe/loop/analysis/lanes.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

class Registers {
 public:
  explicit Registers(const Kernel& kernel) : kernel_(kernel), set_(kernel.registers.size()) {}

  // Whether a register is read before the statements have surely set it.
  bool read_before_set(const std::vector<Stmt>& stmts, bool sure = true) {
    return std::ranges::any_of(stmts, [&](const Stmt& stmt) {
      switch (stmt.kind) {
        case StmtKind::For:
          return kernel_.vars[stmt.var].extent > 0 && read_before_set(stmt.body, sure);
        case StmtKind::If:
          return read_before_set(stmt.body, false);
        case StmtKind::When:
          return reads_unset(stmt) || read_before_set(stmt.body, false);
        case StmtKind::Barrier:
          return false;
        case StmtKind::Store:
          break;
      }
      if (reads_unset(stmt)) return true;
      if (sure && stmt.buffer.space == Space::Register) set_[stmt.buffer.id] = true;
      return false;
    });
  }

 private:
  bool reads_unset(const Stmt& stmt) const {
    const std::vector<ExprId> order = computed(kernel_, stmt);
    return std::ranges::any_of(order, [&](ExprId id) {
      const Expr& expr = kernel_.exprs[id];
      const bool reads = expr.kind == ExprKind::Load && expr.buffer.space == Space::Register;
      return reads && !set_[expr.buffer.id];
    });
  }

  const Kernel& kernel_;
  Table<BufferId, bool> set_;
};

bool is_serial(const Stmt& stmt) {
  return stmt.kind == StmtKind::For && stmt.loop == LoopKind::Serial;
}

}  // namespace

bool iterations_independent(const Kernel& kernel, const Stmt& loop) {
  return !iterations_meet(kernel, loop) && !Registers(kernel).read_before_set(loop.body);
}

std::vector<VarId> parallel_nest(const Kernel& kernel, std::span<const Stmt> stmts) {
  std::vector<VarId> nest;
  while (stmts.size() == 1 && is_serial(stmts[0]) && iterations_independent(kernel, stmts[0])) {
    nest.push_back(stmts[0].var);
    stmts = stmts[0].body;
  }
  return nest;
}

const std::vector<Stmt>& body_inside(const Kernel& kernel, const std::vector<VarId>& nest) {
  const std::vector<Stmt>* body = &kernel.body;
  for (size_t depth = 0; depth < nest.size(); ++depth) body = &body->front().body;
  return *body;
}

}  // namespace lathe::loop
