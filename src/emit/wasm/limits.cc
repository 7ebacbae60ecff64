#include "emit/wasm/limits.h"

#include <cstdint>
#include <limits>
#include <span>

#include "base/text.h"
#include "loop/bounds.h"

namespace lathe::emit {

namespace {

using Limits = std::numeric_limits<int32_t>;

Status check_index(const loop::Affine& index, const loop::VarRanges& ranges) {
  const auto range = loop::range_of(index, {}, ranges);
  if (range && (range->empty() || (range->low >= Limits::min() && range->high <= Limits::max()))) {
    return {};
  }
  return fail("an index leaves 32 bits; use smaller tensors or offsets");
}

Status check_guards(std::span<const loop::Guard> guards, const loop::VarRanges& ranges) {
  for (const loop::Guard& guard : guards) TRY(check_index(guard.index, ranges));
  return {};
}

Status check_conditions(std::span<const loop::Stmt> body, const loop::VarRanges& ranges) {
  for (const loop::Stmt& stmt : body) {
    TRY(check_guards(stmt.guards, ranges));
    TRY(check_conditions(stmt.body, ranges));
  }
  return {};
}

}  // namespace

Status check_limits(const loop::Kernel& kernel) {
  loop::VarRanges ranges;
  for (const loop::Var& var : kernel.vars) {
    if (var.extent > Limits::max()) {
      return fail(concat("a loop runs ", var.extent, " times, more than 2^31 - 1"));
    }
    ranges.push_back(loop::Range{0, var.extent - 1});
  }
  for (const loop::Expr& expr : kernel.exprs) {
    if (expr.kind == loop::ExprKind::Index) TRY(check_index(expr.address, ranges));
    TRY(check_guards(expr.guards, ranges));
  }
  return check_conditions(kernel.body, ranges);
}

}  // namespace lathe::emit
