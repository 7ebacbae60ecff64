// Each is a reshape, a join, a reindex with an affine map, or a few of them.
#include "lathe/ops/movement/movement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/ops/movement/indexing.h"

namespace lathe::ops {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;

namespace {

// Axis in [0, rank), or -1 with an error.
int checked_axis(std::string_view what, Tensor x, int axis, int rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  x.builder->error(concat(what, ": axis ", axis, " is not in [", -rank, ", ", rank, ") for shape ",
                          bracketed(x.shape())));
  return -1;
}

AffineMap identity_map(int rank) {
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  return AffineMap::project(rank, all);
}

// out[i] = x[i + offsets], zero outside.
Tensor shifted(Tensor x, const Shape& offsets, Shape shape) {
  AffineMap map = identity_map(x.rank());
  for (size_t k = 0; k < offsets.size(); ++k) map.axes[k].offset = offsets[k];
  return x.builder->reindex(x, std::move(map), std::move(shape));
}

Tensor padding_error(Tensor x, const Pairs& paddings) {
  std::string listed;
  for (const auto& [before, after] : paddings) append(listed, " [", before, ",", after, "]");
  return x.builder->error(concat("pad: paddings", listed, " do not fit shape ",
                                 bracketed(x.shape()), "; expected [before,after] per axis"));
}

// Limit of an index constant.
constexpr int64_t kMaxIndices = int64_t{1} << 28;
// More than any tensor has along an axis.
constexpr int64_t kMaxPadding = int64_t{1} << 40;

bool are_sizes(const Pairs& paddings) {
  const auto is_one = [](int64_t size) { return -kMaxPadding < size && size < kMaxPadding; };
  return std::ranges::all_of(
      paddings, [&](const auto& each) { return is_one(each.first) && is_one(each.second); });
}

Tensor inside_zeros(Tensor x, const Pairs& paddings) {
  Shape shape = x.shape(), offsets;
  bool fits = paddings.size() == shape.size() && are_sizes(paddings);
  for (size_t k = 0; fits && k < shape.size(); ++k) {
    const auto [before, after] = paddings[k];
    shape[k] += before + after;
    fits = shape[k] >= 0;
    offsets.push_back(-before);
  }
  return fits ? shifted(x, offsets, shape) : padding_error(x, paddings);
}

int64_t modulo(int64_t x, int64_t y) { return (x % y + y) % y; }

// The index in [0, size) that a position before, in or after an axis of this size reads.
int64_t border_index(PadMode mode, int64_t at, int64_t size) {
  switch (mode) {
    case PadMode::Edge:
      return std::clamp<int64_t>(at, 0, size - 1);
    case PadMode::Wrap:
      return modulo(at, size);
    case PadMode::Symmetric: {
      const int64_t folded = modulo(at, 2 * size);
      return std::min(folded, 2 * size - 1 - folded);
    }
    case PadMode::Reflect: {
      if (size == 1) return 0;
      const int64_t folded = modulo(at, 2 * size - 2);
      return std::min(folded, 2 * size - 2 - folded);
    }
  }
  return 0;
}

}  // namespace

Tensor reshape(Tensor x, Shape shape) { return x.builder->reshape(x, std::move(shape)); }

Tensor flatten(Tensor x) { return x.builder->reshape(x, {-1}); }

Tensor expand_dims(Tensor x, int axis) {
  const int at = checked_axis("expandDims", x, axis, x.rank() + 1);
  if (at < 0) return {x.builder, {}};
  Shape shape = x.shape();
  insert_at(shape, at, 1);
  return x.builder->reshape(x, std::move(shape));
}

Tensor squeeze(Tensor x, const std::optional<std::vector<int>>& axes) {
  std::vector<bool> drop(x.shape().size(), false);
  if (!axes) {
    for (size_t k = 0; k < drop.size(); ++k) drop[k] = x.shape()[k] == 1;
  } else {
    for (const int axis : *axes) {
      const int at = checked_axis("squeeze", x, axis, x.rank());
      if (at < 0) return {x.builder, {}};
      drop[at] = true;
    }
  }
  Shape shape;
  for (size_t k = 0; k < drop.size(); ++k) {
    if (!drop[k]) {
      shape.push_back(x.shape()[k]);
    } else if (x.shape()[k] != 1) {
      return x.builder->error(
          concat("squeeze: axis ", k, " of shape ", bracketed(x.shape()), " does not have size 1"));
    }
  }
  return x.builder->reshape(x, std::move(shape));
}

Tensor transpose(Tensor x, const std::optional<std::vector<int>>& perm) {
  std::vector<int> order(x.shape().size());
  std::iota(order.rbegin(), order.rend(), 0);
  return x.builder->permute(x, perm ? *perm : order);
}

Tensor broadcast_to(Tensor x, Shape shape) {
  return x.builder->broadcast_to(x, std::move(shape), "broadcastTo");
}

Tensor tile(Tensor x, const Shape& reps) {
  if (!x.valid()) return x;
  if (reps.size() != x.shape().size() ||
      std::ranges::any_of(reps, [](int64_t r) { return r < 1; })) {
    return x.builder->error(concat("tile: repetitions ", bracketed(reps),
                                   " must be one positive number per axis of shape ",
                                   bracketed(x.shape())));
  }
  // [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r a, s b].
  Shape spaced, spread, shape;
  for (size_t k = 0; k < reps.size(); ++k) {
    const int64_t size = x.shape()[k];
    spaced.push_back(1);
    spaced.push_back(size);
    spread.push_back(reps[k]);
    spread.push_back(size);
    shape.push_back(reps[k] * size);
  }
  Builder& builder = *x.builder;
  return builder.reshape(builder.broadcast_to(builder.reshape(x, spaced), spread, "tile"), shape);
}

Tensor slice(Tensor x, const Shape& begin, const std::optional<Shape>& size) {
  if (!x.valid()) return x;
  Shape shape = x.shape(), offsets(x.shape().size(), 0);
  bool fits = begin.size() <= shape.size() && (!size || size->size() <= shape.size());
  for (size_t k = 0; fits && k < shape.size(); ++k) {
    offsets[k] = k < begin.size() ? begin[k] : 0;
    const int64_t requested = size && k < size->size() ? (*size)[k] : -1;
    const int64_t rest = shape[k] - offsets[k];
    fits = offsets[k] >= 0 && rest >= 0 && requested >= -1 && requested <= rest;
    shape[k] = requested == -1 ? rest : requested;
  }
  if (!fits) {
    return x.builder->error(concat("slice: begin ", bracketed(begin), " size ",
                                   size ? bracketed(*size) : "to the end", " is not inside shape ",
                                   bracketed(x.shape())));
  }
  return shape == x.shape() ? x : shifted(x, offsets, std::move(shape));
}

Tensor strided_slice(Tensor x, const Shape& begin, const Shape& step, Shape size) {
  if (!x.valid()) return x;
  AffineMap map = identity_map(x.rank());
  bool fits =
      begin.size() == map.axes.size() && step.size() == begin.size() && size.size() == begin.size();
  for (size_t k = 0; fits && k < begin.size(); ++k) {
    const int64_t last = begin[k] + (size[k] - 1) * step[k];
    fits = size[k] == 0 || (std::min(begin[k], last) >= 0 && size[k] > 0 &&
                            std::max(begin[k], last) < x.shape()[k]);
    map.axes[k].offset = size[k] == 0 ? 0 : begin[k];
    map.axes[k].coefficients[k] = size[k] <= 1 ? 1 : step[k];
  }
  if (!fits) {
    return x.builder->error(concat("strided_slice: ", bracketed(size), " elements from ",
                                   bracketed(begin), " by steps ", bracketed(step),
                                   " are not inside shape ", bracketed(x.shape())));
  }
  return x.builder->reindex(x, std::move(map), std::move(size));
}

Tensor reverse(Tensor x, const std::optional<std::vector<int>>& axes) {
  if (!x.valid()) return x;
  AffineMap map = identity_map(x.rank());
  std::vector<int> all(x.shape().size());
  std::iota(all.begin(), all.end(), 0);
  for (const int axis : axes ? *axes : all) {
    const int at = checked_axis("reverse", x, axis, x.rank());
    if (at < 0) return {x.builder, {}};
    Affine& affine = map.axes[at];
    affine.coefficients[at] = -1;
    affine.offset = x.shape()[at] - 1;
  }
  return x.builder->reindex(x, std::move(map), x.shape());
}

Tensor pad(Tensor x, const Pairs& paddings, float value) {
  if (!x.valid()) return x;
  if (value != 0 || std::signbit(value)) {
    return pad_with(x, paddings, x.builder->full({}, scalar::Number::from(x.dtype(), value)));
  }
  return inside_zeros(x, paddings);
}

Tensor pad_with(Tensor x, const Pairs& paddings, Tensor value) {
  if (!x.valid()) return x;
  const Tensor moved = inside_zeros(x, paddings);
  const Tensor all = x.builder->full(x.shape(), scalar::Number::of(true));
  return select(inside_zeros(all, paddings), moved, value);
}

Tensor pad_by(PadMode mode, Tensor x, const Pairs& paddings) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  if (paddings.size() != x.shape().size() || !are_sizes(paddings)) {
    return padding_error(x, paddings);
  }
  for (size_t k = 0; k < paddings.size(); ++k) {
    const auto [before, after] = paddings[k];
    if (before == 0 && after == 0) continue;
    const int64_t size = x.shape()[k], padded = size + before + after;
    if (padded < 0 || padded > kMaxIndices || (size == 0 && padded > 0)) {
      return padding_error(x, paddings);
    }
    std::vector<int32_t> indices;
    for (int64_t at = -before; at < size + after; ++at) {
      indices.push_back(static_cast<int32_t>(border_index(mode, at, size)));
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(indices.data());
    const Tensor index = builder.constant(graph::DType::I32, {padded},
                                          {bytes, bytes + indices.size() * sizeof(int32_t)});
    x = gather(x, index, static_cast<int>(k));
  }
  return x;
}

Tensor concatenate(const std::vector<Tensor>& tensors, int axis) {
  // A kernel has separate loops for each operand, whose names it compares.
  constexpr size_t kMaxOperands = 1024;
  if (tensors.size() > kMaxOperands) {
    std::vector<Tensor> parts;
    for (size_t from = 0; from < tensors.size(); from += kMaxOperands) {
      const size_t to = std::min(from + kMaxOperands, tensors.size());
      parts.push_back(concatenate({tensors.begin() + static_cast<std::ptrdiff_t>(from),
                                   tensors.begin() + static_cast<std::ptrdiff_t>(to)},
                                  axis));
    }
    return concatenate(parts, axis);
  }
  const Tensor first = tensors.front();
  const int at = checked_axis("concat", first, axis, first.rank());
  if (at < 0) return {first.builder, {}};
  const auto k = static_cast<size_t>(at);
  Shape shape = first.shape();
  shape[k] = 0;
  for (const Tensor& each : tensors) {
    Shape like = first.shape();
    if (each.rank() == first.rank()) like[k] = each.shape()[k];
    if (like != each.shape() || each.dtype() != first.dtype()) {
      return first.builder->error(concat("concat: ", scalar::text(first.dtype()),
                                         bracketed(first.shape()), " and ",
                                         scalar::text(each.dtype()), bracketed(each.shape()),
                                         " must have one dtype and differ only along axis ", at));
    }
    shape[k] += each.shape()[k];
  }
  std::vector<AffineMap> maps;
  int64_t begin = 0;
  for (const Tensor& each : tensors) {
    maps.push_back(identity_map(each.rank()));
    maps.back().axes[k].offset = begin;
    begin += each.shape()[k];
  }
  return first.builder->join(tensors, std::move(maps), std::move(shape));
}

Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  std::vector<Tensor> parts;
  for (const Tensor& each : tensors) parts.push_back(expand_dims(each, axis));
  return concatenate(parts, axis);
}

}  // namespace lathe::ops
