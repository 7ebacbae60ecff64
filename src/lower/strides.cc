#include "lathe/lower/strides.h"

#include <algorithm>
#include <vector>

#include "lathe/base/table.h"
#include "lathe/loop/rebuild.h"

namespace lathe::lower {

Stride stride_of(const loop::Kernel& kernel, loop::ExprId root, loop::VarId var) {
  Table<ExprId, bool> reached(kernel.exprs.size());
  reached[root] = true;
  bool moves = false;
  for (size_t id = static_cast<size_t>(root) + 1; id-- > 0;) {
    if (!reached[id]) continue;
    const loop::Expr& expr = kernel.exprs[id];
    for (int i = 0; i < expr.operand_count(); ++i) {
      reached[expr.operands[i]] = true;
    }
    const int64_t coefficient = expr.address.coefficient(var);
    if (expr.kind == loop::ExprKind::Index && coefficient != 0) moves = true;
    if (expr.kind != loop::ExprKind::Load) continue;
    if (expr.lookup && loop::mentions(kernel, expr.operands[0], var)) return Stride::Other;
    const bool guarded = std::ranges::any_of(
        expr.guards, [&](const loop::Guard& guard) { return guard.index.coefficient(var) != 0; });
    if (guarded || (coefficient != 0 && coefficient != 1)) return Stride::Other;
    if (coefficient == 1) moves = true;
  }
  return moves ? Stride::Contiguous : Stride::None;
}

}  // namespace lathe::lower
