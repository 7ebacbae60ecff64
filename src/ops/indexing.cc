#include "lathe/ops/indexing.h"

#include "lathe/base/text.h"
#include "lathe/ops/movement.h"

namespace lathe::ops {

using graph::Builder;
using graph::Shape;

Tensor gather(Tensor x, Tensor indices, int axis) {
  if (!x.valid() || !indices.valid()) return x;
  Builder& builder = *x.builder;
  const int at = axis < 0 ? axis + x.rank() : axis;
  if (at < 0 || at >= x.rank() || !scalar::is_integer(indices.dtype())) {
    return builder.error(concat("gather: x ", bracketed(x.shape()), " by ",
                                scalar::text(indices.dtype()), bracketed(indices.shape()),
                                " along axis ", axis, ": wants integer indices and an axis of x"));
  }
  const auto k = static_cast<size_t>(at);
  const int64_t count = graph::element_count(indices.shape());
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
    return b.error(
        "nonZero: how many there are is not known here; give a size, or compile with segments");
  }
  const Shape shape = x.shape();
  if (size == 0 || shape.empty()) return b.full({size, x.rank()}, scalar::Number::of(0));
  const Tensor flat = b.reshape(x, {graph::element_count(shape)});
  const Tensor counts = b.cast(b.cast(flat, graph::DType::Bool), graph::DType::I32);
  const Tensor place = b.scan(graph::Op::Add, counts, 0, /*exclusive=*/true);
  const Tensor limit = b.full({}, scalar::Number::of(size));
  const Tensor is_kept = b.cast(place < limit, graph::DType::I32) * counts;
  Tensor rest = b.scatter(b.iota(flat.shape(), 0) * is_kept, place, 0, {size});
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
