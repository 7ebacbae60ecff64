#include "lathe/loop/rebuild.h"

#include <algorithm>
#include <utility>

#include "lathe/base/table.h"

namespace lathe::loop {

bool mentions(const Kernel& kernel, ExprId root, VarId var) {
  const Expr& expr = kernel.exprs[root];
  bool found = expr.address.coefficient(var) != 0;
  for (const Guard& guard : expr.guards) found = found || guard.index.coefficient(var) != 0;
  for (int i = 0; i < expr.operand_count() && !found; ++i) {
    found = mentions(kernel, expr.operands[i], var);
  }
  return found;
}

namespace {

template <class Visit>
void for_each_operand(const Expr& expr, bool rare, const Visit& visit) {
  for (int i = 0; i < expr.operand_count(); ++i) {
    if (rare || !expr.rare || i != 1) visit(expr.operands[i]);
  }
}

}  // namespace

std::vector<ExprId> computed(const Kernel& kernel, const Stmt& stmt, bool rare) {
  ExprId last = -1;
  for_each_root(stmt, [&](ExprId id) { last = std::max(last, id); });
  Table<ExprId, bool> used(last + 1, false);
  for_each_root(stmt, [&](ExprId id) { used[id] = true; });
  std::vector<ExprId> result;
  for (ExprId id = last; id >= 0; --id) {
    if (!used[id]) continue;
    result.push_back(id);
    for_each_operand(kernel.exprs[id], rare, [&](ExprId operand) { used[operand] = true; });
  }
  std::ranges::reverse(result);
  return result;
}

Table<ExprId, bool> reachable(const Kernel& kernel, const std::vector<Stmt>& stmts, bool rare) {
  Table<ExprId, bool> used(kernel.exprs.size(), false);
  for_each_root_below(stmts, [&](ExprId id) { used[id] = true; });
  for (size_t id = used.size(); id-- > 0;) {
    if (!used[id]) continue;
    for_each_operand(kernel.exprs[id], rare, [&](ExprId operand) { used[operand] = true; });
  }
  return used;
}

void rebuild_exprs(Kernel& kernel, const std::function<ExprId(ExprBuilder&, Expr)>& rebuild) {
  const Table<ExprId, bool> used = reachable(kernel, kernel.body);
  std::vector<Expr> old = std::exchange(kernel.exprs, {});
  Table<ExprId, ExprId> renamed(old.size(), -1);
  ExprBuilder builder(kernel);
  for (size_t id = 0; id < old.size(); ++id) {
    if (!used[id]) continue;
    for (int i = 0; i < old[id].operand_count(); ++i) {
      old[id].operands[i] = renamed[old[id].operands[i]];
    }
    renamed[id] = rebuild(builder, std::move(old[id]));
  }
  for_each_root_below(kernel.body, [&](ExprId& id) { id = renamed[id]; });
}

void change_exprs(Kernel& kernel, std::vector<Stmt>& stmts,
                  const std::function<bool(Expr&)>& change) {
  const Table<ExprId, bool> used = reachable(kernel, stmts);
  Table<ExprId, ExprId> renamed(used.size(), -1);
  ExprBuilder builder(kernel);
  for (size_t id = 0; id < used.size(); ++id) {
    if (!used[id]) continue;
    Expr expr = kernel.exprs[id];
    bool changed = false;
    for (int i = 0; i < expr.operand_count(); ++i) {
      changed |= renamed[expr.operands[i]] != expr.operands[i];
      expr.operands[i] = renamed[expr.operands[i]];
    }
    changed |= change(expr);
    const auto add = [&] {
      return expr.kind == ExprKind::Index ? builder.index(std::move(expr.address))
                                          : builder.add(std::move(expr));
    };
    renamed[id] = changed ? add() : static_cast<ExprId>(id);
  }
  for_each_root_below(stmts, [&](ExprId& id) { id = renamed[id]; });
}

void drop_unreachable_exprs(Kernel& kernel) {
  rebuild_exprs(kernel,
                [](ExprBuilder& builder, Expr expr) { return builder.add(std::move(expr)); });
}

}  // namespace lathe::loop
