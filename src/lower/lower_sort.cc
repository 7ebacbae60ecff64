#include <utility>

#include "lower/sort_space.h"
#include "lower/strategies.h"

namespace lathe::lower {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprId;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

SortSpace::SortSpace(Nest& nest, const Group& group)
    : nest_(nest),
      anchor_(group.anchor()),
      sort_(nest.node(anchor_)),
      x_(nest.node(sort_.operands[0])),
      axis_(static_cast<size_t>(sort_.axes[0])),
      length_(x_.shape[axis_]),
      count_(sort_.shape[axis_]) {
  for (size_t k = 0; k < x_.shape.size(); ++k) {
    if (k == axis_) {
      index_.emplace_back(0);
      continue;
    }
    rows_.push_back(kernel().add_var("i", x_.shape[k]));
    index_.push_back(Affine::variable(rows_.back()));
  }
}

Index SortSpace::at(const Affine& place) const {
  Index index = index_;
  index[axis_] = place;
  return index;
}

ExprId SortSpace::element(const Affine& place) {
  return nest_.value_at(sort_.operands[0], at(place));
}

ExprId SortSpace::element_at(ExprId place) {
  if (graph::is_splat(x_)) return element(0);
  return exprs().load(nest_.buffer_of(sort_.operands[0]), x_.dtype,
                      loop::row_major(at(0), x_.shape), {}, place, lookup_along(x_.shape, axis_));
}

ExprId SortSpace::before(ExprId a, ExprId b) {
  if (x_.dtype != DType::F32) return exprs().apply(descending() ? Op::Gt : Op::Lt, {a, b});
  const ExprId behind = exprs().apply(descending() ? Op::Le : Op::Ge, {a, b});
  return exprs().apply(Op::And, {exprs().apply(Op::Eq, {a, a}), exprs().apply(Op::Not, {behind})});
}

Stmt SortSpace::store(const Affine& slot, ExprId place) {
  return loop::store(nest_.buffer_of(anchor_), loop::row_major(at(slot), sort_.shape), place);
}

Stmt SortSpace::store_at(ExprId slot, ExprId place) {
  return loop::store(nest_.buffer_of(anchor_), loop::row_major(at(0), sort_.shape), slot,
                     lookup_along(sort_.shape, axis_), place);
}

BufferRef SortSpace::add_scratch(const char* name, DType dtype) {
  const int64_t size = graph::element_count(x_.shape);
  return {loop::Space::Global,
          nest_.context().add_buffer(name, dtype, size, loop::BufferRole::Temporary)};
}

Affine SortSpace::scratch_address(const Affine& place) const {
  Affine row;
  for (size_t k = 0; k < x_.shape.size(); ++k) {
    if (k != axis_) row = row * x_.shape[k] + index_[k];
  }
  return row * length_ + place;
}

std::vector<Stmt> SortSpace::around(std::vector<Stmt> body, bool outlined) const {
  for (size_t k = rows_.size(); k-- > 0;) {
    std::vector<Stmt> outer;
    outer.push_back(loop::for_loop(rows_[k], LoopKind::Serial, std::move(body)));
    outer.back().outlined = outlined && k + 1 == rows_.size();
    body = std::move(outer);
  }
  return body;
}

namespace {

// The slot of an element is the number of those that come before it.
void count_before(SortSpace& space) {
  loop::ExprBuilder& exprs = space.exprs();
  loop::Kernel& kernel = space.kernel();
  const VarId own = kernel.add_var("j", space.length());
  const VarId other = kernel.add_var("k", space.length());
  const BufferRef slot = kernel.add_register("slot", DType::I32, 1);
  const ExprId x = space.element(Affine::variable(own));
  const ExprId y = space.element(Affine::variable(other));
  const ExprId place = exprs.index(Affine::variable(own));
  const ExprId sooner = exprs.apply(Op::Lt, {exprs.index(Affine::variable(other)), place});
  const ExprId tied = exprs.apply(Op::And, {sooner, exprs.apply(Op::Not, {space.before(x, y)})});
  const ExprId first = exprs.apply(Op::Or, {space.before(y, x), tied});
  const ExprId counted = exprs.load(slot, DType::I32, 0);
  const auto number = [&](int64_t value) {
    return exprs.constant(loop::Number::of(static_cast<int32_t>(value)));
  };
  std::vector<Stmt> body;
  body.push_back(loop::store(slot, 0, number(0)));
  const ExprId more = exprs.apply(Op::Add, {counted, exprs.cast(first, DType::I32)});
  body.push_back(loop::for_loop(other, LoopKind::Serial, {loop::store(slot, 0, more)}));
  body.push_back(loop::when(exprs.apply(Op::Lt, {counted, number(space.count())}),
                            {space.store_at(counted, place)}));
  std::vector<Stmt> row;
  row.push_back(loop::for_loop(own, LoopKind::Serial, std::move(body)));
  kernel.body = space.around(std::move(row), /*outlined=*/false);
}

}  // namespace

void lower_sort(Nest& nest, const Group& group) {
  if (graph::element_count(nest.node(group.anchor()).shape) == 0) return;
  SortSpace space(nest, group);
  if (nest.context().style == Style::Threads) return count_before(space);
  if (space.count() <= kMostKept) return keep_first(space);
  merge_runs(space);
}

}  // namespace lathe::lower
