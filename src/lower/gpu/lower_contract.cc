#include <utility>

#include "lower/contraction.h"
#include "lower/gpu/strategies.h"
#include "lower/segments.h"

namespace lathe::lower::gpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Stmt;

void lower_contract(Contraction& contraction) {
  loop::Kernel& kernel = contraction.kernel();
  const BufferRef sum = kernel.add_register("sum", contraction.dtype(), 1);
  const ExprId before = contraction.exprs().load(sum, contraction.dtype(), 0);
  const ExprId lhs = contraction.operand_at(0, contraction.index());
  const ExprId rhs = contraction.operand_at(1, contraction.index());
  std::vector<Stmt> products = {loop::store(sum, 0, contraction.mul_add(lhs, rhs, before))};
  for (size_t i = contraction.reduced().size(); i-- > 0;) {
    products = contraction.serial(contraction.reduced()[i], std::move(products));
  }
  std::vector<Stmt> body = {loop::store(sum, 0, contraction.zero())};
  append(body, std::move(products));
  append(body, contraction.finish(contraction.index(), before, 0, 1));
  for (size_t i = contraction.kept().size(); i-- > 0;) {
    body = contraction.serial(contraction.kept()[i], std::move(body));
  }
  kernel.body = std::move(body);
}

}  // namespace lathe::lower::gpu
