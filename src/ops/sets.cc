#include "lathe/ops/sets.h"

#include <array>

#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;

namespace {

// Row indices in lexicographic order: stable argsort by each column, last column first.
Tensor order_of(Tensor x) {
  Builder& builder = *x.builder;
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const Tensor unsorted = builder.iota({rows}, 0);
  if (columns == 1) return builder.sort(builder.reshape(x, {rows}), 0);
  const Tensor flipped = builder.permute(x, {1, 0});
  const auto body = [](const ScanStep& step) {
    const Tensor order = step.carried[0];
    const Tensor permutation = step.builder.sort(gather(step.slices[0], order, 0), 0);
    return ScanResult{{gather(order, permutation, 0)}, {}};
  };
  const ScanOptions options{.steps = columns, .reverse = true};
  return scan(builder, options, {{unsorted}}, {{flipped}}, {}, body).carried[0];
}

}  // namespace

UniqueRows unique_rows(Tensor x, bool sorted) {
  Builder& builder = *x.builder;
  if (x.dtype() == DType::Bool) x = builder.cast(x, DType::I32);
  const int64_t rows = x.shape()[0];
  const Tensor zeros = builder.full({rows}, scalar::Number::of(0));
  if (rows == 0 || !x.valid())
    return {builder.full({}, scalar::Number::of(0)), zeros, zeros, zeros};
  const Tensor order = order_of(x);
  if (!order.valid()) return {order, order, order, order};
  const Tensor in_order = gather(x, order, 0);
  // Ne holds for a NaN and itself: each row that contains NaN is unique.
  const Tensor previous_row =
      gather(in_order,
             maximum(builder.iota({rows}, 0) - builder.full({}, scalar::Number::of(1)), zeros), 0);
  const Tensor differs_from_previous =
      builder.reduce(Op::Or, builder.map(Op::Ne, std::array{in_order, previous_row}), {1});
  const Tensor is_first = builder.iota({rows}, 0) == zeros;
  const Tensor is_new = builder.map(Op::Or, std::array{differs_from_previous, is_first});
  const Tensor ones = builder.cast(is_new, DType::I32);
  const Tensor group = builder.scan(Op::Add, ones, 0) - builder.full({}, scalar::Number::of(1));
  UniqueRows found;  // in ascending order
  found.count = builder.reduce(Op::Add, ones, {0});
  found.inverse = builder.scatter(group, order, 0, {rows});
  // Scatter adds the elements of the same index: here it counts them.
  found.counts = builder.scatter(builder.full({rows}, scalar::Number::of(1)), group, 0, {rows});
  // The sum of one index per group and zeros. The sort is stable, so it is the first occurrence.
  found.first = builder.scatter(order * ones, group, 0, {rows});
  if (sorted) return found;
  // Renumbers the unique rows by first occurrence; unused numbers sort to the end.
  const Tensor position = builder.iota({rows}, 0);
  const Tensor past_end = builder.full({}, scalar::Number::of(static_cast<int32_t>(rows)));
  const Tensor by_occurrence =
      builder.sort(select(position < found.count, found.first, past_end), 0);
  const Tensor rank = builder.scatter(position, by_occurrence, 0, {rows});
  return {found.count, gather(found.first, by_occurrence, 0), gather(rank, found.inverse, 0),
          gather(found.counts, by_occurrence, 0)};
}

}  // namespace lathe::ops
