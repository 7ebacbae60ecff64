#include "lathe/loop/passes/hoist_guards.h"

#include <algorithm>
#include <utility>

#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

bool is_lanes(const Stmt& stmt) {
  return stmt.kind == StmtKind::For &&
         (stmt.loop == LoopKind::Unroll || stmt.loop == LoopKind::Vector);
}

// The load that a store adds to its element; null otherwise.
const Expr* added(const Kernel& kernel, const Stmt& stmt) {
  if (stmt.kind != StmtKind::Store || stmt.buffer.space != Space::Register || stmt.lookup) {
    return nullptr;
  }
  const Expr& sum = kernel.exprs[stmt.value];
  if (sum.kind != ExprKind::Apply || sum.op != Op::Add) return nullptr;
  const Expr &before = kernel.exprs[sum.operands[0]], &term = kernel.exprs[sum.operands[1]];
  const bool adds = before.kind == ExprKind::Load && before.buffer == stmt.buffer &&
                    before.address == stmt.address && before.guards.empty() && !before.lookup;
  return adds && term.kind == ExprKind::Load && !term.lookup ? &term : nullptr;
}

// The guards of the load that a nest of lanes adds up, if none tests a lane.
std::vector<Guard> guards_of(const Kernel& kernel, const Stmt& lanes) {
  std::vector<VarId> vars;
  const Stmt* stmt = &lanes;
  for (; is_lanes(*stmt) && stmt->body.size() == 1; stmt = &stmt->body[0]) {
    vars.push_back(stmt->var);
  }
  const Expr* term = added(kernel, *stmt);
  if (term == nullptr) return {};
  const bool tests_lanes = std::ranges::any_of(term->guards, [&](const Guard& guard) {
    return std::ranges::any_of(guard.index.terms, [&](const Term& each) {
      return std::ranges::find(vars, each.var) != vars.end();
    });
  });
  return tests_lanes ? std::vector<Guard>{} : term->guards;
}

void hoist(Kernel& kernel, std::vector<Stmt>& stmts) {
  for (Stmt& stmt : stmts) {
    if (!is_lanes(stmt)) {
      hoist(kernel, stmt.body);
      continue;
    }
    std::vector<Guard> guards = guards_of(kernel, stmt);
    if (guards.empty()) continue;
    std::vector<Stmt> body;
    body.push_back(std::move(stmt));
    change_exprs(kernel, body, [](Expr& expr) { return !std::exchange(expr.guards, {}).empty(); });
    stmt = if_inside(std::move(guards), std::move(body));
  }
}

}  // namespace

void hoist_guards(Kernel& kernel) {
  hoist(kernel, kernel.body);
  drop_unreachable_exprs(kernel);
}

}  // namespace lathe::loop
