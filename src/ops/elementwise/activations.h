// Activation functions over graph tensors. The result has the shape of x; gradients follow from the
// rows they are made of.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Constants of selu, with which a layer preserves mean 0 and variance 1.
inline constexpr float kSeluAlpha = 1.67326324f, kSeluScale = 1.05070099f;

Tensor sigmoid(Tensor x);  // 1 / (1 + e^-x)
Tensor tanh(Tensor x);
Tensor relu(Tensor x);                     // max(0, x); gradient 0 at 0
Tensor relu6(Tensor x);                    // min(relu(x), 6)
Tensor leaky_relu(Tensor x, float alpha);  // x where x > 0, else alpha x
// x times the probability that a normal number is below x: with erf, or approximate, as x sigmoid(2
// sqrt(2/pi) (x + 0.044715 x^3)), which is the usual form with tanh; Hendrycks & Gimpel 2016.
Tensor gelu(Tensor x, bool approximate = false);
Tensor hard_sigmoid(Tensor x);  // 0.2 x + 0.5 between 0 and 1
// scale · elu(x, alpha) with the constants of Klambauer et al. 2017.
Tensor selu(Tensor x);
Tensor softsign(Tensor x);            // x / (1 + |x|)
Tensor swish(Tensor x, float alpha);  // x sigmoid(alpha x)
Tensor mish(Tensor x);                // x tanh(softplus(x))
Tensor elu(Tensor x, float alpha);    // x where x > 0, else alpha (e^x - 1); Clevert et al. 2015
// e^x / sum of e^x along the axis, shifted by the maximum so that nothing overflows.
Tensor softmax(Tensor x, int axis = -1);
Tensor log_softmax(Tensor x, int axis = -1);  // log(softmax(x)) without the loss of digits

}  // namespace lathe::ops
