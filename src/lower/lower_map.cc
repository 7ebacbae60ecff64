#include <utility>

#include "lathe/loop/rebuild.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

namespace {

// The condition under which the store changes its element, if that does not depend on `lane`; or
// -1. The store is reduced to the changing operand of the select, whose other operand is the old
// value.
loop::ExprId change_of(loop::ExprBuilder& exprs, loop::Stmt& store, loop::VarId lane) {
  loop::ExprId change = -1;
  for (bool more = true; std::exchange(more, false);) {
    const loop::Expr select = exprs[store.value];
    if (select.kind != loop::ExprKind::Apply || select.op != loop::Op::Select) break;
    for (const size_t same : {1, 2}) {
      const loop::Expr& before = exprs[select.operands[same]];
      const bool is_unchanged = before.kind == loop::ExprKind::Load &&
                                before.buffer == store.buffer && before.address == store.address &&
                                before.guards.empty() && !before.lookup;
      if (!is_unchanged || more || loop::mentions(exprs.kernel(), select.operands[0], lane))
        continue;
      loop::ExprId here = select.operands[0];
      if (same == 1) here = exprs.apply(loop::Op::Not, {here});
      change = change < 0 ? here : exprs.apply(loop::Op::And, {change, here});
      store.value = select.operands[3 - same];
      more = true;
    }
  }
  return change;
}

}  // namespace

void lower_map(Nest& nest, const Group& group) {
  loop::Kernel& kernel = nest.kernel();
  Index index;
  std::vector<loop::VarId> vars;
  for (int64_t extent : nest.node(group.anchor()).shape) {
    vars.push_back(kernel.add_var("i", extent));
    index.push_back(loop::Affine::variable(vars.back()));
  }
  std::vector<loop::Stmt> body = nest.store_members(group, index, 0, 1);
  // Skips rows that do not change.
  loop::ExprId change = -1;
  if (body.size() == 1 && !vars.empty()) change = change_of(nest.exprs(), body[0], vars.back());
  const auto enclose = [&body](loop::Stmt outer) {
    outer.body = std::exchange(body, {});
    body.push_back(std::move(outer));
  };
  for (size_t axis = vars.size(); axis-- > 0;) {
    if (change >= 0 && loop::mentions(kernel, change, vars[axis])) {
      enclose(loop::when(std::exchange(change, -1), {}));
    }
    enclose(loop::for_loop(vars[axis], loop::LoopKind::Serial, {}));
  }
  if (change >= 0) enclose(loop::when(change, {}));
  kernel.body = std::move(body);
}

}  // namespace lathe::lower
