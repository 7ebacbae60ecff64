// Each is a few tensor operations.
#include "lathe/ops/nn/metrics.h"

#include <algorithm>

#include "lathe/ops/movement/movement.h"
#include "lathe/ops/nn/losses.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Shape;

namespace {

Tensor as_number(Tensor condition) { return condition.builder->cast(condition, DType::F32); }

// 1 above the limit, else 0.
Tensor above(Tensor x, float limit) { return as_number(x > x.builder->scalar(limit)); }

bool is_single(Tensor x) { return x.shape().back() == 1; }

Tensor without_last_axis(Tensor x) { return sum(x, {-1}); }

Tensor total(Tensor x) { return reduce_sum(x, std::nullopt, false); }

// The weights of rows, spread over the shape of x.
Tensor spread(Tensor w, Tensor x) {
  Shape column(x.shape().size(), 1);
  column.front() = w.shape().front();
  return w.builder->broadcast_to(w.builder->reshape(w, column), x.shape());
}

Tensor flat(Tensor x) { return x.builder->reshape(x, {-1}); }

// The class of each row: I32.
Tensor class_of(Tensor x) {
  if (!is_single(x)) return flat(argmax(x));
  return x.builder->cast(flat(above(x, 0.5f)), DType::I32);
}

}  // namespace

Tensor row_hits(Tensor x, Tensor y) {
  if (!x.valid() || !y.valid()) return x;
  if (is_single(x)) return binary_hits(x, y);
  return as_number(argmax(x) == argmax(y));
}

Tensor sparse_hits(Tensor x, Tensor classes) {
  if (!x.valid() || !classes.valid()) return x;
  return as_number(argmax(x) == classes);
}

Tensor binary_hits(Tensor x, Tensor y) {
  if (!x.valid() || !y.valid()) return x;
  return mean(as_number(above(x, 0.5f) == y), {-1});
}

Tensor top_k_hits(Tensor x, Tensor y, float k) {
  if (!x.valid() || !y.valid()) return x;
  Builder& builder = *x.builder;
  Shape column = x.shape();
  column.back() = 1;
  const Tensor label = builder.reshape(argmax(y), column);
  const Tensor at_label =
      sum(select(builder.iota(x.shape(), x.rank() - 1) == label, x, zero(x)), {-1}, true);
  return as_number(without_last_axis(as_number(x > at_label)) < builder.scalar(k));
}

Tensor mean_over_rows(Tensor values, Tensor w) {
  if (!values.valid() || !w.valid()) return values;
  const Tensor weights = spread(w, values);
  const Tensor selected = select(weights > zero(weights), values * weights, zero(values));
  return stack({total(selected), total(weights)}, 0);
}

Tensor precision_counts(Tensor x, Tensor y, Tensor w, float threshold) {
  if (!x.valid() || !y.valid()) return x;
  const Tensor positive = above(x, threshold) * spread(w, x), right = above(y, 0.5f);
  return stack({total(positive * right), total(positive * (1.0f - right))}, 0);
}

Tensor recall_counts(Tensor x, Tensor y, Tensor w, float threshold) {
  if (!x.valid() || !y.valid()) return x;
  const Tensor positive = above(x, threshold), right = above(y, 0.5f) * spread(w, x);
  return stack({total(positive * right), total((1.0f - positive) * right)}, 0);
}

Tensor curve_counts(Tensor x, Tensor y, Tensor w, float thresholds) {
  if (!x.valid() || !y.valid()) return x;
  Builder& builder = *x.builder;
  const auto count = static_cast<int64_t>(thresholds);
  // The end points are outside of [0, 1], so that all and none are above them.
  constexpr float kOutside = 1e-7f;
  const float width = (1 + 2 * kOutside) / std::max(1.0f, thresholds - 1);
  const Tensor limits = builder.cast(builder.iota({count}, 0), DType::F32) * width - kOutside;
  const Tensor weights = flat(spread(w, x)), right = flat(above(y, 0.5f)) * weights;
  const Tensor positive = as_number(builder.reshape(x, {-1, 1}) > limits);
  const auto count_of = [&](Tensor part) {
    return sum(positive * builder.reshape(part, {-1, 1}), {0});
  };
  return concatenate({count_of(right), count_of(weights - right)}, 0);
}

Tensor determination_sums(Tensor x, Tensor y, Tensor w) {
  if (!x.valid() || !y.valid()) return x;
  const Tensor weights = spread(w, x), difference = y - x;
  return stack({total(difference * difference * weights), total(y * weights),
                total(y * y * weights), total(weights)},
               0);
}

Tensor confusion_counts(Tensor x, Tensor y, Tensor w) {
  if (!x.valid() || !y.valid()) return x;
  Builder& builder = *x.builder;
  const int classes = is_single(x) ? 2 : static_cast<int>(x.shape().back());
  const Tensor positive = one_hot(class_of(x), classes), right = one_hot(class_of(y), classes);
  const int64_t rows = positive.shape().front(), each = rows / w.shape().front();
  const Tensor weights = builder.reshape(
      builder.broadcast_to(builder.reshape(w, {-1, 1}), {w.shape().front(), each}), {rows, 1});
  return flat(builder.matmul(right * weights, positive, true, false));
}

}  // namespace lathe::ops
