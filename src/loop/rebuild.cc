#include "loop/rebuild.h"

namespace lathe::loop {

std::vector<bool> reachable(const Kernel& kernel, const std::vector<Stmt>& stmts) {
  std::vector<bool> used(kernel.exprs.size(), false);
  for_each_store(stmts, [&](const Stmt& stmt) { used[stmt.value] = true; });
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
