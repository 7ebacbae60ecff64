// Activation functions over graph tensors. Each keeps the shape of x; gradients follow from the
// rows they are made of.
#pragma once

#include "graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

Tensor sigmoid(Tensor x);  // 1 / (1 + e^-x)
Tensor tanh(Tensor x);
Tensor relu(Tensor x);                     // max(0, x); gradient 0 at 0
Tensor relu6(Tensor x);                    // min(relu(x), 6)
Tensor leaky_relu(Tensor x, float alpha);  // x where x > 0, else alpha x
// The integral of the normal density over [-x sqrt 2, x sqrt 2]; a rational fit, within 3e-7.
Tensor erf(Tensor x);
// x times the probability that a normal number is below x: with erf, or approximate, as x sigmoid(2
// sqrt(2/pi) (x + 0.044715 x^3)), which is the usual form with tanh; Hendrycks & Gimpel 2016.
Tensor gelu(Tensor x, bool approximate = false);
Tensor elu(Tensor x, float alpha);  // x where x > 0, else alpha (e^x - 1); Clevert et al. 2015
// e^x / sum of e^x along the axis, shifted by the maximum so that nothing overflows.
Tensor softmax(Tensor x, int axis = -1);
Tensor log_softmax(Tensor x, int axis = -1);  // log(softmax(x)) without the loss of digits

}  // namespace lathe::ops
