// Losses; each is a few tensor operations.
#include "lathe/ops/nn/losses.h"

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/elementwise/arithmetic.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;

namespace {

// Labels that merely broadcast would silently yield a wrong loss.
bool same_shape(std::string_view what, Tensor x, Tensor y) {
  if (!x.valid() || !y.valid()) return false;
  if (x.rank() > 0 && x.shape() == y.shape()) return true;
  x.builder->error(concat(what, ": outputs ", bracketed(x.shape()), " and labels ",
                          bracketed(y.shape()), " must have the same shape [rows,classes]"));
  return false;
}

Tensor invalid(Tensor x) { return {x.builder, {}}; }

constexpr float kEpsilon = 1e-7f;

Tensor at_least_epsilon(Tensor x) { return maximum(x, x.builder->scalar(kEpsilon)); }

// Divided by the norm along the last axis.
Tensor normalized(Tensor x) { return x / graph::sqrt(at_least_epsilon(sum(x * x, {-1}, true))); }

}  // namespace

Tensor mean_squared_error(Tensor x, Tensor y) {
  if (!same_shape("mean_squared_error", x, y)) return invalid(x);
  const Tensor difference = x - y;
  return mean(difference * difference, {-1});
}

Tensor mean_absolute_error(Tensor x, Tensor y) {
  if (!same_shape("mean_absolute_error", x, y)) return invalid(x);
  return mean(absolute(x - y), {-1});
}

Tensor mean_absolute_percentage_error(Tensor x, Tensor y) {
  if (!same_shape("mean_absolute_percentage_error", x, y)) return invalid(x);
  return 100.0f * mean(absolute(x - y) / at_least_epsilon(absolute(y)), {-1});
}

Tensor mean_squared_logarithmic_error(Tensor x, Tensor y) {
  if (!same_shape("mean_squared_logarithmic_error", x, y)) return invalid(x);
  return mean(square(log1p(at_least_epsilon(x)) - log1p(at_least_epsilon(y))), {-1});
}

Tensor huber(Tensor x, Tensor y, float delta) {
  if (!same_shape("huber", x, y)) return invalid(x);
  const Tensor distance = absolute(x - y);
  const Tensor near = minimum(distance, x.builder->scalar(delta));
  return mean(near * (distance - 0.5f * near), {-1});
}

Tensor log_cosh(Tensor x, Tensor y) {
  if (!same_shape("log_cosh", x, y)) return invalid(x);
  // cosh d is 1 + 2 sinh² d/2: near 0, where it is 1 but for digits that are lost.
  const Tensor size = absolute(x - y), one = x.builder->scalar(1);
  const Tensor near = log1p(2.0f * square(graph::sinh(0.5f * minimum(size, one))));
  const Tensor far = size + (log1p(exp(-2.0f * size)) - 0.693147181f);
  return mean(select(size < one, near, far), {-1});
}

Tensor hinge(Tensor x, Tensor y) {
  if (!same_shape("hinge", x, y)) return invalid(x);
  return mean(relu(1.0f - x * y), {-1});
}

Tensor squared_hinge(Tensor x, Tensor y) {
  if (!same_shape("squared_hinge", x, y)) return invalid(x);
  return mean(square(relu(1.0f - x * y)), {-1});
}

Tensor categorical_hinge(Tensor x, Tensor y) {
  if (!same_shape("categorical_hinge", x, y)) return invalid(x);
  return relu(1.0f + max((1.0f - y) * x, {-1}) - sum(x * y, {-1}));
}

Tensor poisson(Tensor x, Tensor y) {
  if (!same_shape("poisson", x, y)) return invalid(x);
  return mean(x - y * log(x + kEpsilon), {-1});
}

Tensor kullback_leibler(Tensor x, Tensor y) {
  if (!same_shape("kullback_leibler", x, y)) return invalid(x);
  const auto bounded = [](Tensor each) { return clip_by_value(each, kEpsilon, 1); };
  return sum(y * log(bounded(y) / bounded(x)), {-1});
}

Tensor cosine_proximity(Tensor x, Tensor y) {
  if (!same_shape("cosine_proximity", x, y)) return invalid(x);
  return -sum(normalized(x) * normalized(y), {-1});
}

Tensor binary_cross_entropy(Tensor x, Tensor y) {
  if (!same_shape("binary_cross_entropy", x, y)) return invalid(x);
  const Tensor p = clip_by_value(x, kEpsilon, 1 - kEpsilon);
  return -mean(y * log(p) + (1.0f - y) * log(1.0f - p), {-1});
}

Tensor categorical_cross_entropy(Tensor x, Tensor y) {
  if (!same_shape("categorical_cross_entropy", x, y)) return invalid(x);
  const Tensor total = sum(x, {-1}, true);
  // Padding rows may be zeros; their loss must be finite all the same.
  const Tensor divisor = select(total == zero(total), x.builder->scalar(1), total);
  const Tensor p = clip_by_value(x / divisor, kEpsilon, 1 - kEpsilon);
  return -sum(y * log(p), {-1});
}

Tensor sigmoid_cross_entropy(Tensor x, Tensor y) {
  if (!same_shape("sigmoid_cross_entropy", x, y)) return invalid(x);
  // As in softplus; in this order small losses do not lose precision.
  const Tensor cost = maximum(x, zero(x)) - x * y + log1p(exp(-absolute(x)));
  return mean(cost, {-1});
}

Tensor softmax_cross_entropy(Tensor x, Tensor y) {
  if (!same_shape("softmax_cross_entropy", x, y)) return invalid(x);
  return -sum(y * log_softmax(x), {-1});
}

Tensor sparse_softmax_cross_entropy(Tensor x, Tensor classes) {
  if (!x.valid() || x.rank() == 0) return invalid(x);
  return softmax_cross_entropy(x, one_hot(classes, static_cast<int>(x.shape().back())));
}

Tensor one_hot(Tensor classes, int count) {
  if (!classes.valid()) return classes;
  Builder& builder = *classes.builder;
  if (classes.rank() != 1 || !scalar::is_integer(classes.dtype())) {
    return builder.error(concat("one_hot: classes must be integers of one axis, not ",
                                scalar::text(classes.dtype()), bracketed(classes.shape())));
  }
  const int64_t rows = classes.shape()[0];
  const DType dtype = scalar::computed(classes.dtype());
  if (dtype != classes.dtype()) classes = builder.cast(classes, dtype);
  Tensor class_ids = builder.iota({rows, count}, 1);
  if (dtype != class_ids.dtype()) class_ids = builder.cast(class_ids, dtype);
  const Tensor hit = class_ids == builder.reshape(classes, {rows, 1});
  return builder.cast(hit, DType::F32);
}

}  // namespace lathe::ops
