#include "lathe/ops/images/resample.h"

#include <algorithm>

#include "lathe/base/insert.h"
#include "lathe/graph/elements.h"

namespace lathe::ops {

using graph::AffineMap;
using graph::Builder;
using graph::DType;
using graph::Op;
using graph::Shape;

namespace {

// More taps than these are a product with a matrix.
constexpr size_t kMaxGathers = 4;

Tensor constant(Builder& builder, DType dtype, Shape shape, const std::vector<double>& values) {
  std::vector<std::byte> data(values.size() * scalar::size_of(dtype));
  for (size_t k = 0; k < values.size(); ++k) {
    graph::store(data, static_cast<int64_t>(k), scalar::Number::from(dtype, values[k]));
  }
  return builder.constant(dtype, std::move(shape), std::move(data));
}

// Whether indices[o] is first + o * step.
bool has_step(const std::vector<double>& indices, double step) {
  for (size_t o = 0; o < indices.size(); ++o) {
    if (indices[o] != indices[0] + step * static_cast<double>(o)) return false;
  }
  return true;
}

// How often each element of the axis comes, where that is the same for all, or 0.
size_t repeats(const std::vector<double>& indices, int64_t size) {
  if (size == 0 || indices.size() % static_cast<size_t>(size) != 0) return 0;
  const size_t count = indices.size() / static_cast<size_t>(size);
  for (size_t o = 0; o < indices.size(); ++o) {
    if (indices[o] != static_cast<double>(o / count)) return 0;
  }
  return count;
}

// x[indices[o]] along the axis, without a gather where the indices are affine.
Tensor picked(Tensor x, int axis, const std::vector<double>& indices) {
  Builder& builder = *x.builder;
  const auto at = static_cast<size_t>(axis);
  const Shape from = x.shape();
  Shape shape = from;
  shape[at] = static_cast<int64_t>(indices.size());
  const double step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  if (has_step(indices, step)) {
    std::vector<int> all(from.size());
    for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
    AffineMap map = AffineMap::project(x.rank(), all);
    map.axes[at].coefficients[at] = static_cast<int64_t>(step);
    map.axes[at].offset = indices.empty() ? 0 : static_cast<int64_t>(indices[0]);
    return builder.reindex(x, std::move(map), std::move(shape));
  }
  if (const size_t count = repeats(indices, from[at]); count > 0) {
    Shape spaced = from, spread = from;
    insert_at(spaced, at + 1, 1);
    insert_at(spread, at + 1, static_cast<int64_t>(count));
    return builder.reshape(builder.broadcast_to(builder.reshape(x, spaced), spread), shape);
  }
  Shape along(from.size(), 1);
  along[at] = shape[at];
  const Tensor index = constant(builder, DType::I32, along, indices);
  return builder.gather(x, builder.broadcast_to(index, shape), axis);
}

Tensor by_matrix(Tensor x, int axis, const std::vector<Taps>& taps) {
  const auto at = static_cast<size_t>(axis);
  Shape shape = x.shape();
  const int64_t from = shape[at], to = static_cast<int64_t>(taps.size());
  std::vector<double> matrix(from * to);
  for (size_t o = 0; o < taps.size(); ++o) {
    for (const auto& [source, weight] : taps[o]) {
      matrix[o * static_cast<size_t>(from) + static_cast<size_t>(source)] += weight;
    }
  }
  const int rank = x.rank();
  graph::Contraction contraction;
  contraction.extents = shape;
  contraction.extents[at] = to;
  contraction.extents.push_back(from);
  std::vector<int> out(shape.size());
  for (size_t k = 0; k < out.size(); ++k) out[k] = static_cast<int>(k);
  contraction.out = AffineMap::project(rank + 1, out);
  out[at] = rank;
  contraction.lhs = AffineMap::project(rank + 1, out);
  contraction.rhs = AffineMap::project(rank + 1, {axis, rank});
  shape[at] = to;
  const Tensor weights = constant(*x.builder, x.dtype(), {to, from}, matrix);
  return x.builder->contract(x, weights, std::move(contraction), std::move(shape));
}

}  // namespace

Tensor resample(Tensor x, int axis, const std::vector<Taps>& taps) {
  if (!x.valid()) return x;
  size_t max_taps = 1;
  for (const Taps& each : taps) max_taps = std::max(max_taps, each.size());
  if (max_taps > kMaxGathers) return by_matrix(x, axis, taps);
  Tensor all;
  for (size_t tap = 0; tap < max_taps; ++tap) {
    std::vector<double> indices, weights;
    for (const Taps& each : taps) {
      const bool is_there = tap < each.size();
      indices.push_back(static_cast<double>(is_there       ? each[tap].first
                                            : each.empty() ? 0
                                                           : each.front().first));
      weights.push_back(is_there ? each[tap].second : 0);
    }
    Tensor term = picked(x, axis, indices);
    const bool is_plain = std::ranges::all_of(weights, [](double w) { return w == 1; });
    if (!is_plain) {
      Shape along(x.rank(), 1);
      along[axis] = static_cast<int64_t>(taps.size());
      term = term * constant(*x.builder, x.dtype(), along, weights);
    }
    all = tap == 0 ? term : all + term;
  }
  return all;
}

}  // namespace lathe::ops
