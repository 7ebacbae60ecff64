#include "loop/rebuild.h"

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

std::vector<bool> reachable(const Kernel& kernel, const std::vector<Stmt>& stmts) {
  std::vector<bool> used(kernel.exprs.size(), false);
  for_each_store(
      stmts, [&](const Stmt& stmt) { for_each_root(stmt, [&](ExprId id) { used[id] = true; }); });
  for (size_t id = used.size(); id-- > 0;) {
    if (!used[id]) continue;
    const Expr& expr = kernel.exprs[id];
    for (int i = 0; i < expr.operand_count(); ++i) used[expr.operands[i]] = true;
  }
  return used;
}

void drop_unreachable_exprs(Kernel& kernel) {
  rebuild_exprs(kernel,
                [](ExprBuilder& builder, Expr expr) { return builder.add(std::move(expr)); });
}

}  // namespace lathe::loop
