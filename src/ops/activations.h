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
Tensor elu(Tensor x, float alpha);  // x where x > 0, else alpha (e^x - 1); Clevert et al. 2015
// e^x / sum of e^x along the axis, shifted by the maximum so that nothing overflows.
Tensor softmax(Tensor x, int axis = -1);
Tensor log_softmax(Tensor x, int axis = -1);  // log(softmax(x)) without the loss of digits

}  // namespace lathe::ops
