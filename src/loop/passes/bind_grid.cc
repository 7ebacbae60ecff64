#include "lathe/loop/passes/bind_grid.h"

#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/parallel.h"
#include "lathe/loop/passes/substitute.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

std::vector<Stmt> single(Stmt stmt) {
  std::vector<Stmt> stmts;
  stmts.push_back(std::move(stmt));
  return stmts;
}

// The innermost loop as blocks of threads.
std::vector<Stmt> in_groups(Kernel& kernel, VarId var, int64_t threads, std::vector<Stmt> body) {
  const std::string name = kernel.vars[var].name;
  const int64_t extent = kernel.vars[var].extent;
  if (extent <= threads) return single(for_loop(var, LoopKind::Group, std::move(body)));
  const VarId block = kernel.add_var(concat(name, ".block"), (extent + threads - 1) / threads);
  const VarId thread = kernel.add_var(concat(name, ".thread"), threads);
  const Affine position = Affine::variable(block, threads) + Affine::variable(thread);
  body = substitute(kernel, body, var, position);
  if (extent % threads != 0) body = single(if_inside({{position, extent}}, std::move(body)));
  return single(
      for_loop(block, LoopKind::Grid, single(for_loop(thread, LoopKind::Group, std::move(body)))));
}

}  // namespace

void bind_grid(Kernel& kernel, int64_t threads) {
  std::vector<VarId> nest = parallel_nest(kernel, kernel.body);
  if (nest.empty()) return;
  std::vector<Stmt> body = in_groups(kernel, nest.back(), threads, body_inside(kernel, nest));
  nest.pop_back();
  for (; !nest.empty(); nest.pop_back()) {
    body = single(for_loop(nest.back(), LoopKind::Grid, std::move(body)));
  }
  kernel.body = std::move(body);
  drop_unreachable_exprs(kernel);
}

}  // namespace lathe::loop
