// Losses and hits per row of a batch, so that the training step can weight rows. x is what the
// network gives, y the labels; both are F32 [n, c] and the result is F32 [n].
#pragma once

#include "graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Mean over c of (x - y)^2.
Tensor mean_squared_error(Tensor x, Tensor y);
// Mean over c of the cross-entropy of y and sigmoid(x): max(x, 0) - x y + log(1 + e^-|x|).
Tensor sigmoid_cross_entropy(Tensor x, Tensor y);
// -sum over c of y log(softmax(x)); y are probabilities, often one-hot.
Tensor softmax_cross_entropy(Tensor x, Tensor y);
// The same with labels as I32 class numbers [n].
Tensor sparse_softmax_cross_entropy(Tensor x, Tensor classes);

// I32 [n] -> F32 [n, classes]; a class outside gives a row of zeros.
Tensor one_hot(Tensor classes, int count);
// 1 where the greatest of x stands where the greatest of y does, else 0.
Tensor row_hits(Tensor x, Tensor y);
// 1 where the greatest of x [n, c] stands at the I32 class [n], else 0.
Tensor sparse_hits(Tensor x, Tensor classes);
// Share of the c numbers of a row that are on the same side of 1/2 in x and y.
Tensor binary_hits(Tensor x, Tensor y);

}  // namespace lathe::ops
