#include "loop/substitute.h"

#include <algorithm>
#include <utility>

#include "loop/rebuild.h"

namespace lathe::loop {

namespace {

void substitute(std::vector<Stmt>& stmts, std::span<const Replacement> replacements) {
  for (Stmt& stmt : stmts) {
    stmt.address = substitute(std::move(stmt.address), replacements);
    substitute(stmt.guards, replacements);
    substitute(stmt.body, replacements);
  }
}

// Whether expr mentions var or has an operand with a new id.
bool depends(const Expr& expr, VarId var, const std::vector<ExprId>& renamed) {
  for (int i = 0; i < expr.operand_count(); ++i) {
    if (renamed[expr.operands[i]] != expr.operands[i]) return true;
  }
  return expr.address.coefficient(var) != 0 ||
         std::any_of(expr.guards.begin(), expr.guards.end(),
                     [var](const Guard& guard) { return guard.index.coefficient(var) != 0; });
}

}  // namespace

Affine substitute(Affine affine, std::span<const Replacement> replacements) {
  for (const Replacement& replacement : replacements) {
    if (affine.is_constant()) break;
    affine = affine.substitute(replacement.var, replacement.value);
  }
  return affine;
}

void substitute(std::vector<Guard>& guards, std::span<const Replacement> replacements) {
  for (Guard& guard : guards) guard.index = substitute(std::move(guard.index), replacements);
}

ExprId substitute(ExprBuilder& builder, Expr expr, std::span<const Replacement> replacements) {
  expr.address = substitute(std::move(expr.address), replacements);
  substitute(expr.guards, replacements);
  if (expr.kind == ExprKind::Index) return builder.index(std::move(expr.address));
  return builder.add(std::move(expr));
}

void substitute(Kernel& kernel, std::span<const Replacement> replacements) {
  rebuild_exprs(kernel, [&](ExprBuilder& builder, Expr expr) {
    return substitute(builder, std::move(expr), replacements);
  });
  substitute(kernel.body, replacements);
}

std::vector<Stmt> substitute(Kernel& kernel, const std::vector<Stmt>& stmts, VarId var,
                             const Affine& value) {
  const Replacement replacement{var, value};
  const std::vector<bool> used = reachable(kernel, stmts);
  std::vector<ExprId> renamed(used.size(), -1);
  ExprBuilder builder(kernel);
  for (size_t id = 0; id < used.size(); ++id) {
    if (!used[id]) continue;
    renamed[id] = static_cast<ExprId>(id);
    if (!depends(kernel.exprs[id], var, renamed)) continue;
    Expr expr = kernel.exprs[id];
    for (int i = 0; i < expr.operand_count(); ++i) expr.operands[i] = renamed[expr.operands[i]];
    renamed[id] = substitute(builder, std::move(expr), {&replacement, 1});
  }
  std::vector<Stmt> copy = stmts;
  for_each_store(copy, [&](Stmt& stmt) { stmt.value = renamed[stmt.value]; });
  substitute(copy, {&replacement, 1});
  return copy;
}

}  // namespace lathe::loop
