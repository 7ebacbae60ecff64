#include "lathe/ops/movement/indexing.h"

#include <algorithm>
#include <optional>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Shape;

namespace {

// Of constant indices the first that is outside [0, size).
std::optional<int64_t> constant_out_of_range(Tensor indices, int64_t size) {
  const graph::Node& node = indices.builder->graph()[indices.value];
  if (node.kind != graph::Kind::Constant) return std::nullopt;
  const auto stored = graph::is_splat(node) ? 1 : graph::element_count(node.shape);
  for (int64_t i = 0; i < stored && graph::element_count(node.shape) > 0; ++i) {
    const int64_t at = graph::load(node.dtype, node.data, i).i;
    if (at < 0 || at >= size) return at;
  }
  return std::nullopt;
}

}  // namespace

Tensor gather(Tensor x, Tensor indices, int axis) {
  if (!x.valid() || !indices.valid()) return x;
  Builder& builder = *x.builder;
  const int at = axis < 0 ? axis + x.rank() : axis;
  if (at < 0 || at >= x.rank() || !scalar::is_integer(indices.dtype())) {
    return builder.error(concat("gather: x ", bracketed(x.shape()), " by ",
                                scalar::text(indices.dtype()), bracketed(indices.shape()),
                                " along axis ", axis,
                                ": expects integer indices and an axis of x"));
  }
  const auto k = static_cast<size_t>(at);
  const int64_t count = graph::element_count(indices.shape());
  if (auto wrong = constant_out_of_range(indices, x.shape()[k])) {
    return builder.error(
        concat("gather: index ", *wrong, " is outside axis ", at, " of x ", bracketed(x.shape())));
  }
  Shape row(x.shape().size(), 1), picked = x.shape(), shape = x.shape();
  row[k] = picked[k] = count;
  const Tensor spread = builder.broadcast_to(builder.reshape(indices, row), picked, "gather");
  shape.erase(shape.begin() + at);
  shape.insert(shape.begin() + at, indices.shape().begin(), indices.shape().end());
  return builder.reshape(builder.gather(x, spread, at), shape);
}

Tensor take_along_axis(Tensor x, Tensor indices, int axis) {
  return x.builder->gather(x, indices, axis);
}

Tensor wrap_negative_indices(Tensor indices, int64_t size) {
  if (!indices.valid()) return indices;
  const Tensor index = indices.builder->cast(indices, DType::I32);
  const Tensor count = indices.builder->full({}, scalar::Number::of(static_cast<int32_t>(size)));
  return select(index < zero(index), index + count, index);
}

Tensor gather_nd(Tensor x, Tensor indices, int batch) {
  if (!x.valid() || !indices.valid()) return x;
  Builder& builder = *x.builder;
  const auto b = static_cast<size_t>(batch);
  const Shape from = x.shape(), index_shape = indices.shape();
  const size_t k = index_shape.empty() ? 0 : static_cast<size_t>(index_shape.back());
  const bool fits = !index_shape.empty() && b < index_shape.size() && b + k <= from.size() &&
                    std::equal(from.begin(), from.begin() + batch, index_shape.begin());
  if (!fits) {
    return builder.error(concat("gather_nd: indices ", bracketed(index_shape), " do not fit x ",
                                bracketed(from), " with ", batch, " axes of batches"));
  }
  const auto first = from.begin() + batch, rest = first + static_cast<std::ptrdiff_t>(k);
  const int64_t batches = graph::element_count({from.begin(), first});
  const int64_t inner = graph::element_count({first, rest});
  const int64_t row = graph::element_count({rest, from.end()});
  Shape shape(index_shape.begin(), index_shape.end() - 1);
  const int64_t picked = graph::element_count(shape) / std::max<int64_t>(batches, 1);
  shape.insert(shape.end(), rest, from.end());
  const Tensor position =
      builder.reshape(linear_indices(indices, {first, rest}), {batches, picked, 1});
  const Tensor spread = builder.broadcast_to(position, {batches, picked, row}, "gather_nd");
  const Tensor table = builder.reshape(x, {batches, inner, row});
  return builder.reshape(builder.gather(table, spread, 1), shape);
}

Tensor linear_indices(Tensor indices, const Shape& sizes) {
  if (!indices.valid()) return indices;
  Shape shape = indices.shape(), begin(shape.size(), 0), one = shape;
  one.back() = 1;
  shape.pop_back();
  Tensor sum = indices.builder->full(shape, scalar::Number::of(0));
  for (size_t k = 0; k < sizes.size(); ++k) {
    begin.back() = static_cast<int64_t>(k);
    const Tensor each = indices.builder->reshape(slice(indices, begin, one), shape);
    const Tensor size =
        indices.builder->full({}, scalar::Number::of(static_cast<int32_t>(sizes[k])));
    sum = sum * size + wrap_negative_indices(each, sizes[k]);
  }
  return sum;
}

Tensor one_hot_along(Tensor indices, int64_t count, int axis, Tensor on, Tensor off) {
  const Tensor spread = expand_dims(wrap_negative_indices(indices, count), axis);
  if (!spread.valid()) return spread;
  const int at = axis < 0 ? axis + spread.rank() : axis;
  Shape index_shape(spread.shape().size(), 1);
  index_shape[at] = count;
  return select(spread == spread.builder->iota(index_shape, at), on, off);
}

Tensor reverse_sequence(Tensor x, Tensor lengths, int batch_axis, int axis) {
  if (!x.valid() || !lengths.valid()) return x;
  Builder& builder = *x.builder;
  const Shape shape = x.shape();
  if (batch_axis < 0 || axis < 0 || batch_axis >= x.rank() || axis >= x.rank() ||
      lengths.shape() != Shape{shape[batch_axis]}) {
    return builder.error(concat("reverse_sequence: lengths ", bracketed(lengths.shape()),
                                " are not one for each index along axis ", batch_axis, " of shape ",
                                bracketed(shape)));
  }
  Shape rows(shape.size(), 1), columns(shape.size(), 1);
  rows[batch_axis] = lengths.shape()[0];
  columns[axis] = shape[axis];
  const Tensor length = builder.reshape(builder.cast(lengths, DType::I32), rows);
  const Tensor position = builder.iota(columns, axis);
  const Tensor one = builder.full({}, scalar::Number::of(1));
  const Tensor from = select(position < length, length - one - position, position);
  return builder.gather(x, builder.broadcast_to(from, shape, "reverse_sequence"), axis);
}

Tensor range(Tensor start, Tensor step, int size, graph::DType dtype) {
  if (!start.valid() || !step.valid()) return start;
  Builder& builder = *start.builder;
  if (start.rank() != 0 || step.rank() != 0 || size < 0) {
    return builder.error(concat("range: start and step have no axes and size is not negative, not ",
                                bracketed(start.shape()), ", ", bracketed(step.shape()), " and ",
                                size));
  }
  const Tensor index = builder.cast(builder.iota({size}, 0), start.dtype());
  return builder.cast(start + index * step, dtype);
}

Tensor cumsum(Tensor x, int axis, bool exclusive, bool reverse) {
  return x.builder->scan(graph::Op::Add, x, axis, exclusive, reverse);
}

Tensor cumprod(Tensor x, int axis, bool exclusive, bool reverse) {
  return x.builder->scan(graph::Op::Mul, x, axis, exclusive, reverse);
}

Tensor argsort(Tensor x, int axis, bool descending) { return x.builder->sort(x, axis, descending); }

Tensor sort(Tensor x, int axis, bool descending) {
  return x.builder->gather(x, argsort(x, axis, descending), axis);
}

Tensor non_zero(Tensor x, int size) {
  if (!x.valid()) return x;
  Builder& b = *x.builder;
  if (size < 0) {
    return b.error("nonZero: the count depends on data; pass a size, or compile with segments");
  }
  const Shape shape = x.shape();
  if (size == 0 || shape.empty()) return b.full({size, x.rank()}, scalar::Number::of(0));
  const Tensor flat = b.reshape(x, {graph::element_count(shape)});
  const Tensor counts = b.cast(b.cast(flat, DType::Bool), DType::I32);
  const Tensor position = b.scan(graph::Op::Add, counts, 0, /*exclusive=*/true);
  const Tensor limit = b.full({}, scalar::Number::of(size));
  const Tensor is_within = b.cast(position < limit, DType::I32) * counts;
  Tensor rest = b.scatter(b.iota(flat.shape(), 0) * is_within, position, 0, {size});
  std::vector<Tensor> columns(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    const Tensor extent = b.full({}, scalar::Number::of(static_cast<int32_t>(shape[axis])));
    const Tensor operands[] = {rest, extent};
    columns[axis] = b.map(graph::Op::Mod, operands);
    rest = b.map(graph::Op::FloorDiv, operands);
  }
  return stack(columns, 1);
}

Tensor topk_indices(Tensor x, int k) {
  if (!x.valid()) return x;
  if (x.rank() == 0 || k < 0 || k > x.shape().back()) {
    return x.builder->error(concat("topkIndices: k is ", k, ", the last axis of x ",
                                   bracketed(x.shape()), " must have as many elements at least"));
  }
  return x.builder->sort(x, -1, /*descending=*/true, k);
}

}  // namespace lathe::ops
