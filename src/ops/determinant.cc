#include "lathe/ops/determinant.h"

#include "lathe/base/text.h"
#include "lathe/ops/recurrence.h"
#include "lathe/ops/reductions.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;
using graph::Tensor;

namespace {

Tensor whole(Builder& builder, int32_t value) {
  return builder.full({}, scalar::Number::of(value));
}

// out[b, i, j] = x[b, i + rows, j + columns], zero outside.
Tensor shifted(Tensor x, int64_t rows, int64_t columns, Shape shape) {
  graph::AffineMap map = graph::AffineMap::project(3, {0, 1, 2});
  map.axes[1].offset = rows;
  map.axes[2].offset = columns;
  return x.builder->reindex(x, std::move(map), std::move(shape));
}

// One column eliminated: the matrices [b, n, n] without their first row and column, zeros behind,
// and the determinants [b] so far. What is left is always in front.
ScanResult eliminated(const ScanStep& step) {
  Builder& b = step.builder;
  const Tensor x = step.carried[0], product = step.carried[1];
  const Shape shape = x.shape();
  const int64_t batch = shape[0], n = shape[1];
  const Tensor column = shifted(x, 0, 0, {batch, n, 1});
  const Tensor pivot = b.reshape(argmax(detach(absolute(column)), 1), {batch, 1, 1});
  const Tensor place = b.iota({1, n, 1}, 1);
  const Tensor first = whole(b, 0);
  const Tensor index = select(place == first, pivot, select(place == pivot, whole(b, 0), place));
  const Tensor rows = b.gather(x, b.broadcast_to(index, shape), 1);
  const Tensor top = shifted(rows, 0, 0, {batch, 1, n});
  const Tensor corner = shifted(top, 0, 0, {batch, 1, 1});
  const Tensor zeros = zero(corner);
  const Tensor safe = select(corner == zeros, zeros + 1.0f, corner);
  const Tensor factors = shifted(rows, 0, 0, {batch, n, 1}) / safe;
  const Tensor rest = rows - factors * top;
  const Tensor turned = select(pivot == first, corner, -corner);
  return {{shifted(rest, 1, 1, shape), product * b.reshape(turned, {batch})}, {}};
}

}  // namespace

Tensor determinant(Tensor x) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  Shape shape = x.shape();
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2]) {
    return builder.error(concat("determinant: x ", bracketed(shape), " must be [..., n, n]"));
  }
  const int64_t n = shape.back();
  shape.resize(shape.size() - 2);
  const int64_t batch = graph::element_count(shape);
  const Tensor initial[] = {builder.reshape(x, {batch, n, n}),
                            builder.full({batch}, scalar::Number::from(x.dtype(), 1))};
  const ScanResult result = scan(builder, {.steps = n}, initial, {}, {}, eliminated);
  if (result.carried.size() < 2) return {&builder, {}};
  return builder.reshape(result.carried[1], shape);
}

}  // namespace lathe::ops
