// Activations; each is a few tensor operations.
#include "lathe/ops/elementwise/activations.h"

#include "lathe/ops/elementwise/arithmetic.h"

namespace lathe::ops {

namespace {

Tensor shifted_by_maximum(Tensor x, int axis) { return x - detach(max(x, {axis}, true)); }

}  // namespace

Tensor sigmoid(Tensor x) { return graph::sigmoid(x); }

Tensor tanh(Tensor x) { return graph::tanh(x); }

Tensor relu(Tensor x) { return maximum(zero(x), x); }

Tensor relu6(Tensor x) {
  if (!x.valid()) return x;
  return minimum(relu(x), x.builder->full(x.shape(), scalar::Number::from(x.dtype(), 6)));
}

Tensor leaky_relu(Tensor x, float alpha) { return select(x > zero(x), x, alpha * x); }

// The exponential is of min(x, 0): the unselected branch must not overflow, or its gradient is 0 *
// inf.
Tensor elu(Tensor x, float alpha) {
  return select(x > zero(x), x, alpha * expm1(minimum(x, zero(x))));
}

Tensor hard_sigmoid(Tensor x) { return clip_by_value(0.2f * x + 0.5f, 0, 1); }

Tensor selu(Tensor x) { return kSeluScale * elu(x, kSeluAlpha); }

Tensor softsign(Tensor x) { return x / (1.0f + absolute(x)); }

Tensor swish(Tensor x, float alpha) { return x * graph::sigmoid(alpha * x); }

Tensor mish(Tensor x) { return x * graph::tanh(softplus(x)); }

Tensor gelu(Tensor x, bool approximate) {
  if (!approximate) return 0.5f * x * (1.0f + erf(0.70710678f * x));
  return x * graph::sigmoid((0.071354816f * (x * x) + 1.59576912f) * x);
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
