#include "ops/losses.h"

#include <cstdint>
#include <limits>

#include "ops/activations.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;

Tensor mean_squared_error(Tensor x, Tensor y) {
  const Tensor difference = x - y;
  return mean(difference * difference, {-1});
}

Tensor sigmoid_cross_entropy(Tensor x, Tensor y) {
  const Tensor cost = maximum(zero(x), x) - x * y + log(1.0f + exp(-absolute(x)));
  return mean(cost, {-1});
}

Tensor softmax_cross_entropy(Tensor x, Tensor y) { return -sum(y * log_softmax(x), {-1}); }

Tensor argmax(Tensor x, int axis) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  const int positive = axis < 0 ? axis + x.rank() : axis;
  const Tensor position = builder.iota(x.shape(), positive);
  const Tensor nowhere =
      builder.full(x.shape(), scalar::Number::of(std::numeric_limits<int32_t>::max()));
  const Tensor best = builder.reduce(graph::Op::Max, x, {positive}, true);
  return builder.reduce(graph::Op::Min, select(x == best, position, nowhere), {positive});
}

Tensor one_hot(Tensor classes, int64_t count) {
  if (!classes.valid()) return classes;
  Builder& builder = *classes.builder;
  const int64_t rows = classes.shape()[0];
  const Tensor hit = builder.iota({rows, count}, 1) == builder.reshape(classes, {rows, 1});
  return builder.cast(hit, DType::F32);
}

Tensor row_hits(Tensor x, Tensor y) {
  if (!x.valid() || !y.valid()) return x;
  return x.builder->cast(argmax(x) == argmax(y), DType::F32);
}

}  // namespace lathe::ops
