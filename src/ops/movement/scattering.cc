// Sums are one scatter node, and so is the index of the last update of each element; other folds
// compare every update with every index along the axis.
#include "lathe/ops/movement/scattering.h"

#include "lathe/base/text.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;

namespace {

// The type to add elements in, so that the sum of two equal ones is no other.
DType summed(DType dtype) { return dtype == DType::Bool ? DType::I32 : scalar::computed(dtype); }

Op op_of(Merge merge) {
  return merge == Merge::Mul ? Op::Mul : merge == Merge::Max ? Op::Max : Op::Min;
}

// The fold of the updates of each index: [.., size, ..].
Tensor folded(Tensor updates, Tensor index, int axis, int64_t size, Op op) {
  Builder& builder = *updates.builder;
  Shape column(updates.shape().size() + 1, 1);
  column[static_cast<size_t>(axis) + 1] = size;
  const Tensor hits = expand_dims(index, axis + 1) == builder.iota(column, axis + 1);
  const Tensor none = builder.full({}, scalar::fold_identity(op, updates.dtype()));
  return builder.reduce(op, select(hits, expand_dims(updates, axis + 1), none), {axis});
}

// Padded with zeros to the shape of x.
Tensor as_large_as(Tensor x, Tensor part) {
  if (!x.valid() || !part.valid()) return part;
  Pairs padding;
  for (int k = 0; k < x.rank(); ++k) {
    const auto at = static_cast<size_t>(k);
    padding.emplace_back(0, x.shape()[at] - part.shape()[at]);
  }
  return pad(part, padding, 0);
}

// The 1-based index of the last update of each element; 0 where there is none.
Tensor last_updates(Tensor index, int axis, int64_t size) {
  Builder& builder = *index.builder;
  Shape shape = index.shape();
  const Tensor number = builder.iota(shape, axis) + builder.full({}, scalar::Number::of(1));
  shape[axis] = size;
  return builder.scatter(number, index, axis, shape, Op::Max);
}

Tensor replaced(Tensor x, Tensor last, Tensor updates, int axis) {
  Builder& builder = *x.builder;
  const Tensor number = last - builder.full({}, scalar::Number::of(1));
  const Tensor value = as_large_as(x, builder.gather(updates, number, axis));
  return select(as_large_as(x, builder.cast(last, DType::Bool)), value, x);
}

bool fits(const Shape& x, const Shape& part, int axis) {
  if (x.size() != part.size() || axis < 0 || axis >= static_cast<int>(x.size())) return false;
  for (size_t k = 0; k < x.size(); ++k) {
    if (static_cast<int>(k) != axis && part[k] > x[k]) return false;
  }
  return true;
}

}  // namespace

Tensor scatter_along(Tensor x, Tensor indices, Tensor updates, int axis, Merge merge) {
  if (!x.valid() || !indices.valid() || !updates.valid()) return x;
  Builder& builder = *x.builder;
  const int at = axis < 0 ? axis + x.rank() : axis;
  if (!fits(x.shape(), indices.shape(), at) || indices.shape() != updates.shape() ||
      x.dtype() != updates.dtype()) {
    return builder.error(concat("scatter: updates ", scalar::text(updates.dtype()),
                                bracketed(updates.shape()), " at indices ",
                                bracketed(indices.shape()), " along axis ", axis, " do not fit ",
                                scalar::text(x.dtype()), bracketed(x.shape())));
  }
  if (graph::element_count(updates.shape()) == 0) return x;
  const int64_t size = x.shape()[at];
  const Tensor index = wrap_negative_indices(indices, size);
  if (merge == Merge::Add) {
    const DType dtype = x.dtype(), wide = summed(dtype);
    Shape shape = indices.shape();
    shape[at] = size;
    const Tensor sums = builder.scatter(builder.convert(updates, wide), index, at, shape);
    return x + builder.convert(as_large_as(x, sums), dtype);
  }
  const Tensor last = last_updates(index, at, size);
  if (merge == Merge::Replace) return replaced(x, last, updates, at);
  const Tensor hit = as_large_as(x, builder.cast(last, DType::Bool));
  const Tensor parts[] = {x, as_large_as(x, folded(updates, index, at, size, op_of(merge)))};
  return select(hit, builder.map(op_of(merge), parts, "scatter"), x);
}

Tensor scatter_nd(Tensor x, Tensor indices, Tensor updates, Merge merge) {
  if (!x.valid() || !indices.valid() || !updates.valid()) return x;
  Builder& builder = *x.builder;
  const Shape to = x.shape(), index_shape = indices.shape();
  const size_t k = index_shape.empty() ? 0 : static_cast<size_t>(index_shape.back());
  Shape expected(index_shape.begin(),
                 index_shape.empty() ? index_shape.end() : index_shape.end() - 1);
  const int64_t count = graph::element_count(expected);
  if (k <= to.size())
    expected.insert(expected.end(), to.begin() + static_cast<int64_t>(k), to.end());
  if (index_shape.empty() || k > to.size() || updates.shape() != expected) {
    return builder.error(concat("scatter_nd: updates ", bracketed(updates.shape()), " at indices ",
                                bracketed(index_shape), " do not fit x ", bracketed(to)));
  }
  const Shape sizes(to.begin(), to.begin() + static_cast<int64_t>(k));
  const int64_t row = graph::element_count({to.begin() + static_cast<int64_t>(k), to.end()});
  const Tensor position = builder.reshape(linear_indices(indices, sizes), {count, 1});
  const int64_t size = graph::element_count(sizes);
  const Tensor table = builder.reshape(x, {size, row});
  const Tensor parts = builder.reshape(updates, {count, row});
  if (merge == Merge::Replace && count * row > 0) {
    const Tensor last = builder.broadcast_to(last_updates(position, 0, size), {size, row});
    return builder.reshape(replaced(table, last, parts, 0), to);
  }
  const Tensor index = builder.broadcast_to(position, {count, row}, "scatter_nd");
  return builder.reshape(scatter_along(table, index, parts, 0, merge), to);
}

}  // namespace lathe::ops
