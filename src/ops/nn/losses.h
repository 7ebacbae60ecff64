// Losses per row of a batch, so that the training step can weight rows. x is what the
// network returns, y are the labels; both are F32 [n, …, c] and the result is F32 [n, …].
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// Mean over c of (x - y)^2.
Tensor mean_squared_error(Tensor x, Tensor y);
// Mean over c of |x - y|; of it as a percentage of |y|; of (log(1 + x) - log(1 + y))^2.
Tensor mean_absolute_error(Tensor x, Tensor y);
Tensor mean_absolute_percentage_error(Tensor x, Tensor y);
Tensor mean_squared_logarithmic_error(Tensor x, Tensor y);
// Mean over c of d^2 / 2 for |d| <= delta, else delta (|d| - delta / 2), with d = x - y.
Tensor huber(Tensor x, Tensor y, float delta);
Tensor log_cosh(Tensor x, Tensor y);  // mean over c of log(cosh(x - y))
// Mean over c of max(0, 1 - x y), for labels of -1 and 1; of its square.
Tensor hinge(Tensor x, Tensor y);
Tensor squared_hinge(Tensor x, Tensor y);
// max(0, 1 + largest x of another class - x of the class).
Tensor categorical_hinge(Tensor x, Tensor y);
Tensor poisson(Tensor x, Tensor y);           // mean over c of x - y log(x)
Tensor kullback_leibler(Tensor x, Tensor y);  // sum over c of y log(y / x)
Tensor cosine_proximity(Tensor x, Tensor y);  // minus the cosine of the angle of x and y
// Mean over c of the cross-entropy of y and probabilities x, clipped to [1e-7, 1 - 1e-7].
Tensor binary_cross_entropy(Tensor x, Tensor y);
// -sum over c of y log(x), for x that are probabilities up to a factor, as far away.
Tensor categorical_cross_entropy(Tensor x, Tensor y);
// Mean over c of the cross-entropy of y and sigmoid(x): max(x, 0) - x y + log(1 + e^-|x|).
Tensor sigmoid_cross_entropy(Tensor x, Tensor y);
// -sum over c of y log(softmax(x)); y are probabilities, often one-hot.
Tensor softmax_cross_entropy(Tensor x, Tensor y);
// The same with labels as I32 class numbers [n].
Tensor sparse_softmax_cross_entropy(Tensor x, Tensor classes);

// I32 [n] -> F32 [n, classes]; an index out of range yields a row of zeros.
Tensor one_hot(Tensor classes, int count);
}  // namespace lathe::ops
