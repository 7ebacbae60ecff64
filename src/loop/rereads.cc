#include "lathe/loop/rereads.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/loop/bounds.h"
#include "lathe/loop/lanes.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

// A load or a store, and what is around its statement.
struct Place {
  BufferRef buffer;
  Access access;
  std::vector<Guard> guards;
  std::vector<const Stmt*> around;  // every statement, outermost first
  std::vector<size_t> path;         // its place and that of each statement around it
};

class Places {
 public:
  explicit Places(const Kernel& kernel) : kernel_(kernel) { visit(kernel.body); }

  const std::vector<Place>& loads() const { return loads_; }
  const std::vector<Place>& stores() const { return stores_; }

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
  std::vector<Place> loads_, stores_;
  std::vector<Guard> guards_;
  std::vector<const Stmt*> around_;
  std::vector<size_t> path_;
};

// What the form may be where the guards let the statement run.
std::optional<Range> range_of(const Kernel& kernel, const Place& place, const Affine& form) {
  VarRanges ranges(kernel.vars.size());
  for (const Stmt* stmt : place.around) {
    if (stmt->kind != StmtKind::For) continue;
    ranges[stmt->var] = Range{0, kernel.vars[stmt->var].extent - 1};
  }
  return range_of(form, place.guards, std::move(ranges));
}

bool is_reached(const Kernel& kernel, const Place& place) {
  const auto any = range_of(kernel, place, 0);
  return !any || !any->empty();
}

// Iterations of other loops are known not to touch what another stores.
bool is_ordered(const Stmt& stmt) {
  return stmt.loop == LoopKind::Serial || stmt.loop == LoopKind::Unroll;
}

// Whether the load may come after the store and read the same element.
bool sees(const Kernel& kernel, const Place& load, const Place& store) {
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
    // Guards may keep the two from the same iteration.
    if (both && (reads->high < writes->low || writes->high < reads->low)) return false;
  }
  return load.path > store.path && may_meet(kernel, *body, -1, 0, store.access, load.access);
}

}  // namespace

Status check_rereads(const Module& module, const Kernel& kernel) {
  const Places places(kernel);
  for (const Place& store : places.stores()) {
    if (std::ranges::find(kernel.rereads, store.buffer.id) != kernel.rereads.end()) continue;
    if (!is_reached(kernel, store)) continue;
    for (const Place& load : places.loads()) {
      if (load.buffer != store.buffer || !is_reached(kernel, load)) continue;
      if (!sees(kernel, load, store)) continue;
      return fail(
          concat("reads of ", module.buffers[store.buffer.id].name,
                 " what it may have stored there before, and does not say that it rereads it"));
    }
  }
  return {};
}

}  // namespace lathe::loop
