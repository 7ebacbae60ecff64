// Elements picked by tensors of indices, indices themselves, running folds, and orders. Negative
// axes count from the end.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// [size]: start + i * step of two numbers without axes, of one type, cast to another.
Tensor range(Tensor start, Tensor step, int size, graph::DType dtype);
// x with the axes of the integer indices instead of the axis; an index outside is an error where
// it is a constant, else it is clamped.
Tensor gather(Tensor x, Tensor indices, int axis);
// out[i] = x[i with indices[i] along the axis], as in NumPy: the shapes are equal but there.
Tensor take_along_axis(Tensor x, Tensor indices, int axis);
// Indices as I32; those below 0 count from the end of an axis of this size, as in Python.
Tensor wrap_negative_indices(Tensor indices, int64_t size);
// x [b…, s1…sk, rest…] by integer indices [b…, n…, k], with `batch` axes b -> [b…, n…, rest…]:
// each k numbers index s1…sk, negative ones from the end. GatherND of ONNX, `gatherND` of
// TensorFlow.
Tensor gather_nd(Tensor x, Tensor indices, int batch = 0);
// Row-major linear indices, I32, of the index tuples along the last axis in a tensor of these
// sizes.
Tensor linear_indices(Tensor indices, const graph::Shape& sizes);
// [.., count, ..]: `on` where the position along the new axis is the integer index, else `off`. An
// index from -count to -1 counts from the end; others yield `off` only. `on` and `off` have no
// axes.
Tensor one_hot_along(Tensor indices, int64_t count, int axis, Tensor on, Tensor off);
// Along the axis the first lengths[b] elements in reverse order, the others as they are; b is the
// index along `batch_axis`.
Tensor reverse_sequence(Tensor x, Tensor lengths, int batch_axis, int axis);
// Sum (product) of the elements up to each along the axis; `exclusive`: without it; `reverse`: from
// the end.
Tensor cumsum(Tensor x, int axis, bool exclusive, bool reverse);
Tensor cumprod(Tensor x, int axis, bool exclusive, bool reverse);

// The elements, or their I32 indices, sorted along the axis. The sort is stable; NaNs
// come last, ascending or descending.
Tensor sort(Tensor x, int axis, bool descending);
Tensor argsort(Tensor x, int axis, bool descending);
// The I32 indices of the k largest elements along the last axis, the largest first. NaNs count
// as the smallest.
Tensor topk_indices(Tensor x, int k);

// The I32 indices [size, rank] of the elements that are not 0, in row-major order: the first `size`
// of them, then zeros. Their count depends on data, so `size` is required: -1 is an error.
Tensor non_zero(Tensor x, int size);

}  // namespace lathe::ops
