#include "lathe/loop/analysis/index_width.h"

#include <cstdint>
#include <limits>
#include <span>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/bounds.h"

namespace lathe::loop {

namespace {

using Limits = std::numeric_limits<int32_t>;

Status check_index(const Affine& index, const VarRanges& ranges) {
  const auto range = range_of(index, {}, ranges);
  if (range && (range->empty() || (range->low >= Limits::min() && range->high <= Limits::max()))) {
    return {};
  }
  return fail("an index leaves 32 bits; use smaller tensors or offsets");
}

Status check_guards(std::span<const Guard> guards, const VarRanges& ranges) {
  for (const Guard& guard : guards) LATHE_TRY(check_index(guard.index, ranges));
  return {};
}

Status check_conditions(std::span<const Stmt> body, const VarRanges& ranges) {
  for (const Stmt& stmt : body) {
    LATHE_TRY(check_guards(stmt.guards, ranges));
    LATHE_TRY(check_conditions(stmt.body, ranges));
  }
  return {};
}

}  // namespace

Status check_index_width(const Kernel& kernel) {
  VarRanges ranges;
  for (const Var& var : kernel.vars) {
    if (var.extent > Limits::max()) {
      return fail(concat("a loop runs ", var.extent, " times, more than 2^31 - 1"));
    }
    ranges.push_back(Range{0, var.extent - 1});
  }
  for (const Expr& expr : kernel.exprs) {
    if (expr.kind == ExprKind::Index) LATHE_TRY(check_index(expr.address, ranges));
    LATHE_TRY(check_guards(expr.guards, ranges));
  }
  return check_conditions(kernel.body, ranges);
}

}  // namespace lathe::loop
