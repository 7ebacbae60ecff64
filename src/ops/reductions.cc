// Each is one reduction, or a few.
#include "lathe/ops/reductions.h"

#include <cstdint>
#include <limits>
#include <numeric>

#include "lathe/base/text.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;

namespace {

std::vector<int> chosen(Tensor x, const Axes& axes) {
  if (axes) return *axes;
  std::vector<int> all(x.shape().size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Tensor fold(Op op, Tensor x, const Axes& axes, bool keep_dims) {
  return x.builder->reduce(op, x, chosen(x, axes), keep_dims);
}

Tensor position_of(Op extreme, Tensor x, int axis) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  const int positive = axis < 0 ? axis + x.rank() : axis;
  if (positive < 0 || positive >= x.rank()) {
    return builder.error(concat("position of the ", scalar::info(extreme).text, ": axis ", axis,
                                " is not in shape ", bracketed(x.shape())));
  }
  if (x.shape()[static_cast<size_t>(positive)] == 0) {
    return builder.error(concat("position of the ", scalar::info(extreme).text, ": axis ", axis,
                                " of shape ", bracketed(x.shape()), " has no elements"));
  }
  const Tensor position = builder.iota(x.shape(), positive);
  const Tensor nowhere =
      builder.full(x.shape(), scalar::Number::of(std::numeric_limits<int32_t>::max()));
  const Tensor best = builder.reduce(extreme, x, {positive}, true);
  Tensor hit = x == best;
  if (scalar::is_float(x.dtype())) {  // no NaN is equal to anything
    const Tensor twice[] = {x, x}, either[] = {hit, builder.map(Op::Ne, twice)};
    hit = builder.map(Op::Or, either);
  }
  return builder.reduce(Op::Min, select(hit, position, nowhere), {positive});
}

}  // namespace

Tensor reduce_sum(Tensor x, const Axes& axes, bool keep_dims) {
  if (x.dtype() == DType::Bool) x = x.builder->cast(x, DType::I32);
  return fold(Op::Add, x, axes, keep_dims);
}

Tensor reduce_mean(Tensor x, const Axes& axes, bool keep_dims) {
  if (!scalar::is_float(x.dtype())) x = x.builder->cast(x, DType::F32);
  return graph::mean(x, chosen(x, axes), keep_dims);
}

Tensor reduce_prod(Tensor x, const Axes& axes, bool keep_dims) {
  return fold(Op::Mul, x, axes, keep_dims);
}

Tensor reduce_max(Tensor x, const Axes& axes, bool keep_dims) {
  return fold(Op::Max, x, axes, keep_dims);
}

Tensor reduce_min(Tensor x, const Axes& axes, bool keep_dims) {
  return fold(Op::Min, x, axes, keep_dims);
}

Tensor reduce_all(Tensor x, const Axes& axes, bool keep_dims) {
  return fold(Op::And, x, axes, keep_dims);
}

Tensor reduce_any(Tensor x, const Axes& axes, bool keep_dims) {
  return fold(Op::Or, x, axes, keep_dims);
}

Tensor log_sum_exp(Tensor x, const Axes& axes, bool keep_dims) {
  const Tensor highest = detach(fold(Op::Max, x, axes, true));
  const Tensor rest = log(fold(Op::Add, exp(x - highest), axes, keep_dims));
  return rest + x.builder->reshape(highest, rest.shape());
}

Tensor argmax(Tensor x, int axis) { return position_of(Op::Max, x, axis); }

Tensor argmin(Tensor x, int axis) { return position_of(Op::Min, x, axis); }

}  // namespace lathe::ops
