// Each is one reduction, or a few.
#include "lathe/ops/reduction/reductions.h"

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

Tensor fold(Op op, Tensor x, const Axes& axes, bool keepdims) {
  return x.builder->reduce(op, x, chosen(x, axes), keepdims);
}

Tensor position_of(Op extreme, Tensor x, int axis) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  const int positive = axis < 0 ? axis + x.rank() : axis;
  const bool is_there = positive >= 0 && positive < x.rank();
  if (!is_there || x.shape()[positive] == 0) {
    return builder.error(concat("position of the ", scalar::info(extreme).text, ": axis ", axis,
                                " of shape ", bracketed(x.shape()),
                                is_there ? " has no elements" : " does not exist"));
  }
  Tensor ranked = x;
  const bool has_nans = scalar::is_float(x.dtype());
  if (has_nans) {
    const Tensor worst = builder.full({}, scalar::fold_identity(extreme, x.dtype()));
    ranked = select(extreme == Op::Max ? worst < x : x < worst, x, worst);
  }
  const Tensor index =
      first_true_index(ranked == builder.reduce(extreme, ranked, {positive}, true), positive);
  if (!has_nans) return index;
  graph::Shape one = x.shape();
  one[positive] = 1;
  const auto here = graph::AffineMap::project(x.rank(), chosen(x, std::nullopt));
  const Tensor first = builder.reshape(builder.reindex(x, here, one), index.shape());
  return select(first == first, index, zero(index));
}

}  // namespace

Tensor reduce_sum(Tensor x, const Axes& axes, bool keepdims) {
  if (x.dtype() == DType::Bool) x = x.builder->cast(x, DType::I32);
  return fold(Op::Add, x, axes, keepdims);
}

Tensor reduce_mean(Tensor x, const Axes& axes, bool keepdims) {
  if (!scalar::is_float(x.dtype())) x = x.builder->cast(x, DType::F32);
  return graph::mean(x, chosen(x, axes), keepdims);
}

Tensor reduce_prod(Tensor x, const Axes& axes, bool keepdims) {
  return fold(Op::Mul, x, axes, keepdims);
}

Tensor reduce_max(Tensor x, const Axes& axes, bool keepdims) {
  return fold(Op::Max, x, axes, keepdims);
}

Tensor reduce_min(Tensor x, const Axes& axes, bool keepdims) {
  return fold(Op::Min, x, axes, keepdims);
}

Tensor reduce_all(Tensor x, const Axes& axes, bool keepdims) {
  return fold(Op::And, x, axes, keepdims);
}

Tensor reduce_any(Tensor x, const Axes& axes, bool keepdims) {
  return fold(Op::Or, x, axes, keepdims);
}

Tensor log_sum_exp(Tensor x, const Axes& axes, bool keepdims) {
  const Tensor highest = detach(fold(Op::Max, x, axes, true));
  const Tensor rest = log(fold(Op::Add, exp(x - highest), axes, keepdims));
  return rest + x.builder->reshape(highest, rest.shape());
}

Tensor first_true_index(Tensor hit, int axis) {
  Builder& builder = *hit.builder;
  const Tensor nowhere =
      builder.full(hit.shape(), scalar::Number::of(std::numeric_limits<int32_t>::max()));
  return builder.reduce(Op::Min, select(hit, builder.iota(hit.shape(), axis), nowhere), {axis});
}

Tensor argmax(Tensor x, int axis) { return position_of(Op::Max, x, axis); }

Tensor argmin(Tensor x, int axis) { return position_of(Op::Min, x, axis); }

}  // namespace lathe::ops
