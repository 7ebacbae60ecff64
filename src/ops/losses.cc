// Losses and metrics; each is a few tensor operations.
#include "ops/losses.h"

#include "base/text.h"
#include "ops/activations.h"
#include "ops/reductions.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;

namespace {

// Labels that merely broadcast would give a wrong loss in silence.
bool same_shape(std::string_view what, Tensor x, Tensor y) {
  if (!x.valid() || !y.valid()) return false;
  if (x.rank() > 0 && x.shape() == y.shape()) return true;
  x.builder->error(concat(what, ": outputs ", bracketed(x.shape()), " and labels ",
                          bracketed(y.shape()), " must have the same shape [rows,classes]"));
  return false;
}

Tensor invalid(Tensor x) { return {x.builder, {}}; }

}  // namespace

Tensor mean_squared_error(Tensor x, Tensor y) {
  if (!same_shape("mean_squared_error", x, y)) return invalid(x);
  const Tensor difference = x - y;
  return mean(difference * difference, {-1});
}

Tensor sigmoid_cross_entropy(Tensor x, Tensor y) {
  if (!same_shape("sigmoid_cross_entropy", x, y)) return invalid(x);
  const Tensor cost = maximum(zero(x), x) - x * y + log(1.0f + exp(-absolute(x)));
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
  if (classes.rank() != 1 || classes.dtype() != DType::I32) {
    return builder.error(concat("one_hot: classes must be i32 of one axis, not ",
                                scalar::text(classes.dtype()), bracketed(classes.shape())));
  }
  const int64_t rows = classes.shape()[0];
  const Tensor hit = builder.iota({rows, count}, 1) == builder.reshape(classes, {rows, 1});
  return builder.cast(hit, DType::F32);
}

Tensor sparse_hits(Tensor x, Tensor classes) {
  if (!x.valid() || !classes.valid()) return x;
  return x.builder->cast(argmax(x) == classes, DType::F32);
}

Tensor binary_hits(Tensor x, Tensor y) {
  if (!same_shape("binary_hits", x, y)) return invalid(x);
  Builder& builder = *x.builder;
  const Tensor half = builder.scalar(0.5f);
  const Tensor said = builder.cast(x > half, DType::F32),
               right = builder.cast(y > half, DType::F32);
  return mean(builder.cast(said == right, DType::F32), {-1});
}

Tensor row_hits(Tensor x, Tensor y) {
  if (!x.valid() || !y.valid()) return x;
  return x.builder->cast(argmax(x) == argmax(y), DType::F32);
}

}  // namespace lathe::ops
