// Metrics: what each row of a batch counts, and the sums that a batch adds to a metric. x is what
// the network returns, y the labels, both F32 [n, …, c]; w are the weights of the rows, F32 [n].
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// [n, …]: 1 where argmax(x) = argmax(y), else 0; of a single
// column as binary_hits.
Tensor row_hits(Tensor x, Tensor y);
// 1 where argmax(x [n, c]) is the I32 class [n], else 0.
Tensor sparse_hits(Tensor x, Tensor classes);
// Share of the c numbers of a row where y is 1 and x above 1/2, or y 0 and x not; as in Keras no
// other label is ever hit.
Tensor binary_hits(Tensor x, Tensor y);
// 1 where fewer than k of x are greater than the one at argmax(y).
Tensor top_k_hits(Tensor x, Tensor y, float k);

// All below return sums over rows, [k].
// values [n, …] -> [sum of w values, sum of w].
Tensor mean_over_rows(Tensor values, Tensor w);
// x is positive above the threshold, y above 1/2: [true positives, false positives].
Tensor precision_counts(Tensor x, Tensor y, Tensor w, float threshold);
Tensor recall_counts(Tensor x, Tensor y, Tensor w, float threshold);  // [true yes, false no]
// True yes, then false yes, for thresholds from just below 0 to just above 1.
Tensor curve_counts(Tensor x, Tensor y, Tensor w, float thresholds);
// [sum of (y - x)^2, sum of y, sum of y^2, number of elements].
Tensor determination_sums(Tensor x, Tensor y, Tensor w);
// Confusion matrix: rows of each true and predicted class: [classes of y * classes of x]; two
// classes where there is a single column.
Tensor confusion_counts(Tensor x, Tensor y, Tensor w);

}  // namespace lathe::ops
