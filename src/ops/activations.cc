// Activations; each is a few tensor operations.
#include "ops/activations.h"

namespace lathe::ops {

namespace {

Tensor shifted_by_maximum(Tensor x, int axis) { return x - detach(max(x, {axis}, true)); }

}  // namespace

Tensor sigmoid(Tensor x) { return graph::sigmoid(x); }

Tensor tanh(Tensor x) { return graph::tanh(x); }

Tensor relu(Tensor x) { return maximum(zero(x), x); }

Tensor relu6(Tensor x) {
  if (!x.valid()) return x;
  return minimum(relu(x), x.builder->full(x.shape(), scalar::Number::of(6.0f)));
}

Tensor leaky_relu(Tensor x, float alpha) { return select(x > zero(x), x, alpha * x); }

// The exponential is of min(x, 0): the branch not taken must not overflow, or its gradient is 0 *
// inf.
Tensor elu(Tensor x, float alpha) {
  return select(x > zero(x), x, alpha * (exp(minimum(x, zero(x))) - 1.0f));
}

Tensor softmax(Tensor x, int axis) {
  const Tensor power = exp(shifted_by_maximum(x, axis));
  return power * (1.0f / sum(power, {axis}, true));
}

Tensor log_softmax(Tensor x, int axis) {
  const Tensor shifted = shifted_by_maximum(x, axis);
  return shifted - log(sum(exp(shifted), {axis}, true));
}

}  // namespace lathe::ops
