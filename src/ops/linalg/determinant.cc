#include "lathe/ops/linalg/determinant.h"

#include "lathe/base/text.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;
using graph::Tensor;

namespace {

Tensor integer(Builder& builder, int32_t value) {
  return builder.full({}, scalar::Number::of(value));
}

// out[b, i, j] = x[b, i + rows, j + columns], zero outside.
Tensor shifted(Tensor x, int64_t rows, int64_t columns, Shape shape) {
  graph::AffineMap map = graph::AffineMap::project(3, {0, 1, 2});
  map.axes[1].offset = rows;
  map.axes[2].offset = columns;
  return x.builder->reindex(x, std::move(map), std::move(shape));
}

// One column eliminated: the matrices [b, n, n] without their first row and column, padded with
// zeros, and the determinants [b] so far. The remaining matrix is the leading one.
ScanResult eliminated(const ScanStep& step) {
  Builder& b = step.builder;
  const Tensor x = step.carried[0], product = step.carried[1];
  const Shape shape = x.shape();
  const int64_t batch = shape[0], n = shape[1];
  const Tensor column = shifted(x, 0, 0, {batch, n, 1});
  const Tensor pivot = b.reshape(argmax(detach(absolute(column)), 1), {batch, 1, 1});
  const Tensor row = b.iota({1, n, 1}, 1);
  const Tensor first = integer(b, 0);
  const Tensor index = select(row == first, pivot, select(row == pivot, integer(b, 0), row));
  const Tensor rows = b.gather(x, b.broadcast_to(index, shape), 1);
  const Tensor top = shifted(rows, 0, 0, {batch, 1, n});
  const Tensor corner = shifted(top, 0, 0, {batch, 1, 1});
  const Tensor zeros = zero(corner);
  const Tensor safe = select(corner == zeros, zeros + 1.0f, corner);
  const Tensor factors = shifted(rows, 0, 0, {batch, n, 1}) / safe;
  const Tensor rest = rows - factors * top;
  const Tensor signed_corner = select(pivot == first, corner, -corner);
  return {{shifted(rest, 1, 1, shape), product * b.reshape(signed_corner, {batch})}, {}};
}

// The next column of [b, n, m] eliminated and dropped. Rows that were pivots follow those that
// were not, of which the second value [1, n, 1] has ones.
ScanResult gauss_jordan_step(const ScanStep& step) {
  Builder& b = step.builder;
  const Tensor x = step.carried[0], open = step.carried[1];
  const Shape shape = x.shape();
  const int64_t batch = shape[0], n = shape[1];
  const Tensor size = detach(absolute(shifted(x, 0, 0, {batch, n, 1})));
  const Tensor pivot =
      b.reshape(argmax(select(open > zero(open), size, zero(size) - 1.0f), 1), {batch, 1, 1});
  const Tensor row = b.iota({1, n, 1}, 1);
  const Tensor shifted_row = select(row < pivot, row, row + integer(b, 1));
  const Tensor index = select(row == integer(b, static_cast<int32_t>(n) - 1), pivot, shifted_row);
  const Tensor rows = b.gather(x, b.broadcast_to(index, shape), 1);
  const Tensor top = shifted(rows, n - 1, 0, {batch, 1, shape[2]});
  const Tensor scaled = top / shifted(top, 0, 0, {batch, 1, 1});
  const Tensor rest = rows - shifted(rows, 0, 0, {batch, n, 1}) * scaled;
  const Tensor is_last = row == integer(b, static_cast<int32_t>(n) - 1);
  return {{shifted(select(is_last, scaled, rest), 0, 1, shape), shifted(open, 1, 0, {1, n, 1})},
          {}};
}

// [b, n, n] of [.., n, n].
Tensor square_matrices(Tensor x, std::string_view what) {
  const Shape& shape = x.shape();
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2]) {
    return x.builder->error(concat(what, ": x ", bracketed(shape), " must be [..., n, n]"));
  }
  const int64_t n = shape.back(), batch = graph::element_count({shape.begin(), shape.end() - 2});
  return x.builder->reshape(x, {batch, n, n});
}

}  // namespace

Tensor inverse(Tensor x) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  const Tensor all = square_matrices(x, "inverse");
  if (!all.valid()) return all;
  const Shape shape = all.shape();
  const int64_t n = shape[1];
  const Tensor one =
      builder.cast(builder.iota({1, n, 1}, 1) == builder.iota({1, 1, n}, 2), x.dtype());
  const Tensor initial[] = {concatenate({all, builder.broadcast_to(one, shape)}, 2),
                            builder.full({1, n, 1}, scalar::Number::of(1.0f))};
  const ScanResult result = scan(builder, {.steps = n}, initial, {}, {}, gauss_jordan_step);
  if (result.carried.size() < 2) return {&builder, {}};
  return builder.reshape(shifted(result.carried[0], 0, 0, shape), x.shape());
}

Tensor determinant(Tensor x) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  const Tensor all = square_matrices(x, "determinant");
  if (!all.valid()) return all;
  const int64_t batch = all.shape()[0], n = all.shape()[1];
  Shape shape = x.shape();
  shape.resize(shape.size() - 2);
  const Tensor initial[] = {all, builder.full({batch}, scalar::Number::from(x.dtype(), 1))};
  const ScanResult result = scan(builder, {.steps = n}, initial, {}, {}, eliminated);
  if (result.carried.size() < 2) return {&builder, {}};
  return builder.reshape(result.carried[1], shape);
}

}  // namespace lathe::ops
