#include <utility>

#include "lathe/lower/gpu/strategies.h"
#include "lathe/lower/sort_space.h"

namespace lathe::lower::gpu {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprId;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

// The slot of an element is the number of those that come before it. Keys are compared, as shaders
// may be compiled as if no number were NaN.
void lower_sort(SortSpace& space) {
  loop::ExprBuilder& exprs = space.exprs();
  loop::Kernel& kernel = space.kernel();
  const VarId self = kernel.add_var("j", space.length());
  const VarId other = kernel.add_var("k", space.length());
  const BufferRef slot = kernel.add_register("slot", DType::I32, 1);
  const ExprId x = space.key(space.element(Affine::variable(self)));
  const ExprId y = space.key(space.element(Affine::variable(other)));
  const ExprId self_index = exprs.index(Affine::variable(self));
  const ExprId sooner = exprs.apply(Op::Lt, {exprs.index(Affine::variable(other)), self_index});
  const ExprId tied = exprs.apply(Op::And, {sooner, exprs.apply(Op::Eq, {x, y})});
  const ExprId first = exprs.apply(Op::Or, {exprs.apply(Op::Lt, {y, x}), tied});
  const ExprId slot_count = exprs.load(slot, DType::I32, 0);
  const auto number = [&](int64_t value) {
    return exprs.constant(loop::Number::of(static_cast<int32_t>(value)));
  };
  std::vector<Stmt> body;
  body.push_back(loop::store(slot, 0, number(0)));
  const ExprId more = exprs.apply(Op::Add, {slot_count, exprs.cast(first, DType::I32)});
  body.push_back(loop::for_loop(other, LoopKind::Serial, {loop::store(slot, 0, more)}));
  body.push_back(loop::when(exprs.apply(Op::Lt, {slot_count, number(space.count())}),
                            {space.store_at(slot_count, self_index)}));
  std::vector<Stmt> row;
  row.push_back(loop::for_loop(self, LoopKind::Serial, std::move(body)));
  kernel.body = space.around(std::move(row), /*outlined=*/false);
}

}  // namespace lathe::lower::gpu
