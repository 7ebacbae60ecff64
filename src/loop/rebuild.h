// Reachability and reconstruction of a kernel's expression table: what passes over expressions
// share.
#pragma once

#include <utility>
#include <vector>

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

// What the statement computes, its body aside; operands first.
std::vector<ExprId> computed(const Kernel& kernel, const Stmt& stmt);

// Whether the value of the expression depends on the variable.
bool mentions(const Kernel& kernel, ExprId root, VarId var);

// Per expression of the kernel: whether one of `stmts`, or what is in it, computes it.
std::vector<bool> reachable(const Kernel& kernel, const std::vector<Stmt>& stmts);

// Gives the kernel a new expression table that holds what its body reaches. `rebuild(builder,
// expr)` receives each expression with operands already in the new table and returns its id there.
template <class Rebuild>
void rebuild_exprs(Kernel& kernel, const Rebuild& rebuild) {
  const std::vector<bool> used = reachable(kernel, kernel.body);
  std::vector<Expr> old = std::exchange(kernel.exprs, {});
  std::vector<ExprId> renamed(old.size(), -1);
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

// Gives `stmts` expressions of their own where `change(Expr&)` says that it changed one. Changed
// expressions join the kernel's table, old ones stay.
template <class Change>
void change_exprs(Kernel& kernel, std::vector<Stmt>& stmts, const Change& change) {
  const std::vector<bool> used = reachable(kernel, stmts);
  std::vector<ExprId> renamed(used.size(), -1);
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

void drop_unreachable_exprs(Kernel& kernel);

}  // namespace lathe::loop
