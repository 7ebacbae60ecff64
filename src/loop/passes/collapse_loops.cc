#include "lathe/loop/passes/collapse_loops.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/loop/passes/substitute.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

class Collapser {
 public:
  explicit Collapser(Kernel& kernel) : kernel_(kernel), bindings_(kernel.vars.size(), 0) {
    const Table<ExprId, bool> used = reachable(kernel, kernel.body);
    for (size_t id = 0; id < used.size(); ++id) {
      if (used[id]) note(kernel.exprs[id].address, kernel.exprs[id].guards);
    }
    note(kernel.body);
  }

  void run() {
    collapse(kernel_.body);
    if (!eliminated_.empty()) substitute(kernel_, eliminated_);
  }

 private:
  void note(const Affine& address, const std::vector<Guard>& guards) {
    if (!address.is_constant()) forms_.push_back(address);
    for (const Guard& guard : guards) forms_.push_back(guard.index);
  }

  void note(const std::vector<Stmt>& stmts) {
    for (const Stmt& stmt : stmts) {
      note(stmt.address, stmt.guards);
      if (stmt.kind == StmtKind::For) ++bindings_[stmt.var];
      note(stmt.body);
    }
  }

  void collapse(std::vector<Stmt>& stmts) {
    std::vector<Stmt> result;
    for (Stmt& stmt : stmts) {
      collapse(stmt.body);
      if (stmt.kind == StmtKind::For && stmt.loop != LoopKind::Subgroup &&
          kernel_.vars[stmt.var].extent == 1) {
        eliminated_.push_back({stmt.var, 0});
        std::move(stmt.body.begin(), stmt.body.end(), std::back_inserter(result));
        continue;
      }
      if (is_one_walk(stmt)) {
        Stmt inner = std::move(stmt.body[0]);
        kernel_.vars[inner.var].extent *= kernel_.vars[stmt.var].extent;
        eliminated_.push_back({stmt.var, 0});
        stmt = std::move(inner);
      }
      result.push_back(std::move(stmt));
    }
    stmts = std::move(result);
  }

  // Whether outer and the only statement of its body are loops that one loop over the inner
  // variable replaces.
  bool is_one_walk(const Stmt& outer) const {
    if (!is_plain_loop(outer) || outer.body.size() != 1 || !is_plain_loop(outer.body[0])) {
      return false;
    }
    const VarId inner = outer.body[0].var;
    const int64_t extent = kernel_.vars[inner].extent;
    return std::all_of(forms_.begin(), forms_.end(), [&](const Affine& form) {
      return form.coefficient(outer.var) == form.coefficient(inner) * extent;
    });
  }

  bool is_plain_loop(const Stmt& stmt) const {
    return stmt.kind == StmtKind::For && stmt.loop == LoopKind::Serial && !stmt.outlined &&
           bindings_[stmt.var] == 1;
  }

  Kernel& kernel_;
  std::vector<Affine> forms_;  // every one that the body evaluates
  std::vector<int> bindings_;  // loops per variable
  std::vector<Replacement> eliminated_;
};

}  // namespace

void collapse_loops(Kernel& kernel) { Collapser(kernel).run(); }

}  // namespace lathe::loop
