#include "lathe/lower/sort_space.h"

#include <cstdint>
#include <utility>

#include "lathe/lower/strategies.h"

namespace lathe::lower {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprId;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int32_t kInfinityBits = 0x7f800000;

}  // namespace

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
      index_.push_back(Affine(0));
      continue;
    }
    rows_.push_back(kernel().add_var("i", x_.shape[k]));
    index_.push_back(Affine::variable(rows_.back()));
  }
}

Index SortSpace::index_at(const Affine& index) const {
  Index result = index_;
  result[axis_] = index;
  return result;
}

ExprId SortSpace::element(const Affine& index) {
  return nest_.value_at(sort_.operands[0], index_at(index));
}

ExprId SortSpace::element_at(ExprId index) {
  if (graph::is_splat(x_)) return element(0);
  return exprs().load(nest_.buffer_of(sort_.operands[0]), x_.dtype,
                      loop::row_major(index_at(0), x_.shape), {}, index,
                      lookup_along(x_.shape, axis_));
}

ExprId SortSpace::before(ExprId a, ExprId b) {
  if (x_.dtype != DType::F32) return exprs().apply(descending() ? Op::Gt : Op::Lt, {a, b});
  const ExprId is_not_before = exprs().apply(descending() ? Op::Le : Op::Ge, {a, b});
  return exprs().apply(Op::And,
                       {exprs().apply(Op::Eq, {a, a}), exprs().apply(Op::Not, {is_not_before})});
}

Stmt SortSpace::store(const Affine& slot, ExprId index) {
  return loop::store(nest_.buffer_of(anchor_), loop::row_major(index_at(slot), sort_.shape), index);
}

Stmt SortSpace::store_at(ExprId slot, ExprId index) {
  return loop::store(nest_.buffer_of(anchor_), loop::row_major(index_at(0), sort_.shape), slot,
                     lookup_along(sort_.shape, axis_), index);
}

ExprId SortSpace::key(ExprId x) {
  const auto number = [&](int32_t value) { return exprs().constant(loop::Number::of(value)); };
  if (x_.dtype != DType::F32) return descending() ? exprs().apply(Op::BitXor, {x, number(-1)}) : x;
  const ExprId bits = exprs().apply(Op::ToBits, {x});
  const ExprId magnitude = exprs().apply(Op::BitAnd, {bits, number(INT32_MAX)});
  const ExprId negative = exprs().apply(Op::Lt, {bits, number(0)});
  const ExprId negated = exprs().apply(Op::Sub, {number(0), magnitude});
  const ExprId key = descending() ? exprs().apply(Op::Select, {negative, magnitude, negated})
                                  : exprs().apply(Op::Select, {negative, negated, magnitude});
  const ExprId is_nan = exprs().apply(Op::Gt, {magnitude, number(kInfinityBits)});
  return exprs().apply(Op::Select, {is_nan, number(INT32_MAX), key});
}

BufferRef SortSpace::add_scratch(const char* name, int64_t size) {
  size *= graph::element_count(x_.shape) / length_;
  const BufferRef scratch{
      loop::Space::Global,
      nest_.context().add_buffer(name, DType::I32, size, loop::BufferRole::Temporary)};
  nest_.kernel().reread(scratch);
  return scratch;
}

Affine SortSpace::scratch_address(const Affine& index, int64_t size) const {
  Affine row;
  for (size_t k = 0; k < x_.shape.size(); ++k) {
    if (k != axis_) row = row * x_.shape[k] + index_[k];
  }
  return row * size + index;
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

void lower_sort(Nest& nest, const Group& group) {
  if (graph::element_count(nest.node(group.anchor()).shape) == 0) return;
  SortSpace space(nest, group);
  nest.context().strategies.sort(space);
}

}  // namespace lathe::lower
