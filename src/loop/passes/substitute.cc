#include "lathe/loop/passes/substitute.h"

#include <algorithm>
#include <utility>

#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

void substitute(std::vector<Stmt>& stmts, std::span<const Replacement> replacements) {
  for (Stmt& stmt : stmts) {
    stmt.address = substitute(std::move(stmt.address), replacements);
    substitute(stmt.guards, replacements);
    substitute(stmt.body, replacements);
  }
}

bool mentions(const Expr& expr, VarId var) {
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
  std::vector<Stmt> copy = stmts;
  change_exprs(kernel, copy, [&](Expr& expr) {
    if (!mentions(expr, var)) return false;
    expr.address = substitute(std::move(expr.address), {&replacement, 1});
    substitute(expr.guards, {&replacement, 1});
    return true;
  });
  substitute(copy, {&replacement, 1});
  return copy;
}

}  // namespace lathe::loop
