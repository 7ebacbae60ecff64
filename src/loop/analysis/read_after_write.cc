#include "lathe/loop/analysis/read_after_write.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/bounds.h"
#include "lathe/loop/analysis/lanes.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

// A load or a store, and the statements around it.
struct MemoryAccess {
  BufferRef buffer;
  Access access;
  std::vector<Guard> guards;
  std::vector<const Stmt*> around;  // every statement, outermost first
  std::vector<size_t> path;  // its index in its body, after those of the statements around it
};

class MemoryAccesses {
 public:
  explicit MemoryAccesses(const Kernel& kernel) : kernel_(kernel) { visit(kernel.body); }

  const std::vector<MemoryAccess>& loads() const { return loads_; }
  const std::vector<MemoryAccess>& stores() const { return stores_; }

 private:
  void visit(const std::vector<Stmt>& stmts) {
    for (size_t i = 0; i < stmts.size(); ++i) {
      const Stmt& stmt = stmts[i];
      path_.push_back(i);
      visit_loads(stmt);
      if (stmt.kind == StmtKind::Store && stmt.buffer.space == Space::Global) {
        stores_.push_back(
            {stmt.buffer, {stmt.address, stmt.lookup, stmt.index}, guards_, around_, path_});
      }
      around_.push_back(&stmt);
      guards_.insert(guards_.end(), stmt.guards.begin(), stmt.guards.end());
      visit(stmt.body);
      guards_.resize(guards_.size() - stmt.guards.size());
      around_.pop_back();
      path_.pop_back();
    }
  }

  void visit_loads(const Stmt& stmt) {
    for (const ExprId id : computed(kernel_, stmt)) {
      const Expr& expr = kernel_.exprs[id];
      if (expr.kind != ExprKind::Load || expr.buffer.space != Space::Global) continue;
      std::vector<Guard> guards = guards_;
      guards.insert(guards.end(), expr.guards.begin(), expr.guards.end());
      loads_.push_back({expr.buffer,
                        {expr.address, expr.lookup, expr.operands[0]},
                        std::move(guards),
                        around_,
                        path_});
    }
  }

  const Kernel& kernel_;
  std::vector<MemoryAccess> loads_, stores_;
  std::vector<Guard> guards_;
  std::vector<const Stmt*> around_;
  std::vector<size_t> path_;
};

// The range of the form where the guards are true.
std::optional<Range> range_of(const Kernel& kernel, const MemoryAccess& access,
                              const Affine& form) {
  VarRanges ranges(kernel.vars.size());
  for (const Stmt* stmt : access.around) {
    if (stmt->kind != StmtKind::For) continue;
    ranges[stmt->var] = Range{0, kernel.vars[stmt->var].extent - 1};
  }
  return range_of(form, access.guards, std::move(ranges));
}

bool is_reached(const Kernel& kernel, const MemoryAccess& access) {
  const auto any = range_of(kernel, access, 0);
  return !any || !any->empty();
}

// Iterations of other loops are independent.
bool is_ordered(const Stmt& stmt) {
  return stmt.loop == LoopKind::Serial || stmt.loop == LoopKind::Unroll;
}

// Whether the load may come after the store and read the same element.
bool sees(const Kernel& kernel, const MemoryAccess& load, const MemoryAccess& store) {
  const std::vector<Stmt>* body = &kernel.body;
  for (size_t i = 0; i < std::min(load.around.size(), store.around.size()); ++i) {
    const Stmt* const stmt = load.around[i];
    if (stmt != store.around[i]) break;
    body = &stmt->body;
    if (stmt->kind != StmtKind::For) continue;
    const auto reads = range_of(kernel, load, Affine::variable(stmt->var));
    const auto writes = range_of(kernel, store, Affine::variable(stmt->var));
    const bool both = reads && writes;
    const int64_t reach = both ? reads->high - writes->low + 1 : kernel.vars[stmt->var].extent;
    if (is_ordered(*stmt) &&
        may_meet(kernel, stmt->body, stmt->var, reach, store.access, load.access)) {
      return true;
    }
    // Guards may exclude both from the same iteration.
    if (both && (reads->high < writes->low || writes->high < reads->low)) return false;
  }
  return load.path > store.path && may_meet(kernel, *body, -1, 0, store.access, load.access);
}

}  // namespace

Status check_read_after_write(const Module& module, const Kernel& kernel) {
  const MemoryAccesses accesses(kernel);
  for (const MemoryAccess& store : accesses.stores()) {
    if (std::ranges::find(kernel.rereads, store.buffer.id) != kernel.rereads.end()) continue;
    if (!is_reached(kernel, store)) continue;
    for (const MemoryAccess& load : accesses.loads()) {
      if (load.buffer != store.buffer || !is_reached(kernel, load)) continue;
      if (!sees(kernel, load, store)) continue;
      return fail(concat("reads elements of ", module.buffers[store.buffer.id].name,
                         " that it may have stored before, without listing it in `rereads`"));
    }
  }
  return {};
}

}  // namespace lathe::loop
