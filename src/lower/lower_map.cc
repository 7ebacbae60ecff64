#include <utility>

#include "lathe/loop/rebuild.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

namespace {

// When the store changes what lies there, or -1: always. It then stores the rest of the expression,
// which would give else what it overwrites.
loop::ExprId change_of(loop::ExprBuilder& exprs, loop::Stmt& store) {
  loop::ExprId change = -1;
  const auto is_before = [&](loop::ExprId id) {
    const loop::Expr& expr = exprs[id];
    return expr.kind == loop::ExprKind::Load && expr.buffer == store.buffer &&
           expr.address == store.address && expr.guards.empty() && !expr.lookup;
  };
  while (true) {
    const loop::Expr select = exprs[store.value];
    if (select.kind != loop::ExprKind::Apply || select.op != loop::Op::Select) return change;
    const bool keeps = is_before(select.operands[1]);
    if (!keeps && !is_before(select.operands[2])) return change;
    loop::ExprId here = select.operands[0];
    if (keeps) here = exprs.apply(loop::Op::Not, {here});
    change = change < 0 ? here : exprs.apply(loop::Op::And, {change, here});
    store.value = select.operands[keeps ? 2 : 1];
  }
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
  // Where whole rows stay as they are, nothing walks over them.
  loop::ExprId change = -1;
  if (body.size() == 1 && !vars.empty()) {
    loop::Stmt store = body[0];
    change = change_of(nest.exprs(), store);
    if (change >= 0 && loop::mentions(kernel, change, vars.back())) change = -1;
    if (change >= 0) body[0] = std::move(store);
  }
  for (size_t axis = vars.size(); axis-- > 0;) {
    if (change >= 0 && loop::mentions(kernel, change, vars[axis])) {
      body = {loop::when(std::exchange(change, -1), std::move(body))};
    }
    std::vector<loop::Stmt> outer;
    outer.push_back(loop::for_loop(vars[axis], loop::LoopKind::Serial, std::move(body)));
    body = std::move(outer);
  }
  if (change >= 0) body = {loop::when(change, std::move(body))};
  kernel.body = std::move(body);
}

}  // namespace lathe::lower
