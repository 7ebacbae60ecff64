// Contractions whose output elements are shared by several iterations: out = 0, then out[index] +=
// product for every point of the iteration space.
#include <utility>

#include "lathe/lower/contraction.h"
#include "lathe/lower/segments.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Stmt;

void scatter_contract(Contraction& contraction) {
  loop::Kernel& kernel = contraction.kernel();
  const graph::Shape& shape = contraction.node().shape;
  const auto id = static_cast<size_t>(contraction.group().anchor().id);
  const BufferRef out{loop::Space::Global, contraction.context().buffer_of[id]};
  kernel.reread(out);
  const loop::VarId cell = kernel.add_var("i", graph::element_count(shape));
  kernel.body.push_back(
      loop::for_loop(cell, loop::LoopKind::Serial,
                     {loop::store(out, Affine::variable(cell), contraction.zero())}));

  const Index index = contraction.output_index(contraction.index());
  std::vector<loop::Guard> inside;
  for (size_t axis = 0; axis < index.size(); ++axis) inside.push_back({index[axis], shape[axis]});
  const Affine address = loop::row_major(index, shape);
  const ExprId sum =
      contraction.mul_add(contraction.operand_at(0, contraction.index()),
                          contraction.operand_at(1, contraction.index()),
                          contraction.exprs().load(out, contraction.dtype(), address));
  std::vector<Stmt> body;
  body.push_back(loop::if_inside(std::move(inside), {loop::store(out, address, sum)}));
  for (size_t i = contraction.reduced().size(); i-- > 0;) {
    body = contraction.serial(contraction.reduced()[i], std::move(body));
  }
  append(kernel.body, std::move(body));
}

}  // namespace lathe::lower
