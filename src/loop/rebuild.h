// Reachability and reconstruction of a kernel's expression table: what passes over expressions
// share.
#pragma once

#include <functional>
#include <vector>

#include "lathe/base/table.h"
#include "lathe/loop/loop.h"

namespace lathe::loop {

// Calls visit(Stmt&) on every Store below, in order.
template <class Stmts, class Visit>
void for_each_store(Stmts& stmts, const Visit& visit) {
  for (auto& stmt : stmts) {
    if (stmt.kind == StmtKind::Store) {
      visit(stmt);
    } else {
      for_each_store(stmt.body, visit);
    }
  }
}

// Calls visit(ExprId&) on the expressions that the statement computes, its body aside.
template <class Statement, class Visit>
void for_each_root(Statement& stmt, const Visit& visit) {
  if (stmt.kind == StmtKind::Store || stmt.kind == StmtKind::When) visit(stmt.value);
  if (stmt.lookup) visit(stmt.index);
}

// The same for every statement below, in order.
template <class Stmts, class Visit>
void for_each_root_below(Stmts& stmts, const Visit& visit) {
  for (auto& stmt : stmts) {
    for_each_root(stmt, visit);
    for_each_root_below(stmt.body, visit);
  }
}

// What the statement computes, its body aside; operands first. Without what is rare: all that it
// computes whatever it chooses.
std::vector<ExprId> computed(const Kernel& kernel, const Stmt& stmt, bool rare = true);

// Whether the value of the expression depends on the variable.
bool mentions(const Kernel& kernel, ExprId root, VarId var);

// Per expression of the kernel: whether one of `stmts`, or what is in it, computes it.
Table<ExprId, bool> reachable(const Kernel& kernel, const std::vector<Stmt>& stmts,
                              bool rare = true);

// Rebuilds the expression table of the kernel with the expressions that its body reaches.
// `rebuild(builder, expr)` receives each expression with operands already in the new table and
// returns its id there.
void rebuild_exprs(Kernel& kernel, const std::function<ExprId(ExprBuilder&, Expr)>& rebuild);

// Clones the expressions of `stmts` where `change(Expr&)` returns that it changed one. Changed
// expressions join the kernel's table, old ones stay.
void change_exprs(Kernel& kernel, std::vector<Stmt>& stmts,
                  const std::function<bool(Expr&)>& change);

void drop_unreachable_exprs(Kernel& kernel);

}  // namespace lathe::loop
