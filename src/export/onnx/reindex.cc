// Views: each axis of the operand is sliced, padded with zeros or gathered by constant indices;
// axes that are neither moved nor repeated cost nothing.
#include <algorithm>

#include "lathe/export/onnx/emitter.h"
#include "lathe/export/onnx/maps.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

using graph::Affine;
using graph::AffineMap;
using scalar::Number;

namespace {

// The part of one axis of the operand that is read.
struct View {
  std::vector<int> dimensions;            // of the result, which determine the index
  int64_t start = 0, step = 1, size = 0;  // the indices that are read
  int64_t before = 0, after = 0;          // zeros around them
  Affine indices;                         // into the padded slice, of several dimensions
  bool is_trivial = false;                // the complete axis, unchanged
};

// floor(a / b), b > 0.
int64_t floor_quotient(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// Nothing if it reads no element.
std::optional<View> view_of(const Affine& affine, const Shape& shape, int64_t size) {
  View view;
  int64_t low = affine.offset, high = affine.offset;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t reach = affine.coefficients[d] * (shape[d] - 1);
    if (reach == 0) continue;
    view.dimensions.push_back(static_cast<int>(d));
    (reach < 0 ? low : high) += reach;
  }
  if (high < 0 || low >= size) return std::nullopt;
  if (view.dimensions.size() != 1) {
    view.start = std::max<int64_t>(low, 0);
    view.size = std::min(high, size - 1) - view.start + 1;
    view.before = view.start - low;
    view.after = high - low + 1 - view.before - view.size;
    view.indices = affine;
    view.indices.offset -= low;
    view.is_trivial = view.dimensions.empty() && size == 1;
    return view;
  }
  const auto d = static_cast<size_t>(view.dimensions[0]);
  const int64_t step = affine.coefficients[d], offset = affine.offset;
  // first <= i < end is inside.
  int64_t first =
      step > 0 ? -floor_quotient(offset, step) : -floor_quotient(size - 1 - offset, -step);
  int64_t end =
      (step > 0 ? floor_quotient(size - 1 - offset, step) : floor_quotient(offset, -step)) + 1;
  first = std::max<int64_t>(first, 0);
  end = std::min(end, shape[d]);
  if (first >= end) return std::nullopt;
  view.start = offset + step * first;
  view.step = step;
  view.size = end - first;
  view.before = first;
  view.after = shape[d] - end;
  view.is_trivial = step == 1 && offset == 0 && shape[d] == size;
  return view;
}

std::optional<std::vector<View>> views_of(const AffineMap& map, const Shape& shape,
                                          const Shape& from) {
  std::vector<View> views;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    auto view = view_of(map.axes[axis], shape, from[axis]);
    if (!view) return std::nullopt;
    views.push_back(*std::move(view));
  }
  return views;
}

bool are_disjoint(const std::vector<View>& views) {
  std::vector<int> seen;
  for (const View& view : views) {
    for (const int d : view.dimensions) {
      if (std::ranges::find(seen, d) != seen.end()) return false;
      seen.push_back(d);
    }
  }
  return true;
}

// The types that ORT pads.
Tensor padded(Writer& w, const Tensor& x, const std::vector<int64_t>& before,
              const std::vector<int64_t>& after) {
  const bool is_short = scalar::size_of(x.dtype) == 2;
  const DType dtype = is_short ? scalar::computed(x.dtype) : x.dtype;
  const Tensor wide = w.pad(w.cast(x, dtype), before, after, Number::from(dtype, 0));
  return w.cast(wide, x.dtype);
}

// affine(i) for every i of the shape, as i64.
Tensor evaluated_map(Writer& w, const Affine& affine, const Shape& shape) {
  Tensor sum = w.number(Number::of(affine.offset));
  for (size_t d = 0; d < shape.size(); ++d) {
    if (affine.coefficients[d] == 0 || shape[d] == 1) continue;
    Shape spaced(shape.size() - d, 1);
    spaced[0] = shape[d];
    Tensor steps = w.range(shape[d]);
    if (affine.coefficients[d] != 1) {
      steps = w.map("Mul", {steps, w.number(Number::of(affine.coefficients[d]))});
    }
    sum = w.map("Add", {sum, w.reshape(steps, std::move(spaced))});
  }
  return sum;
}

// The indices of a view of several dimensions, one axis for each.
Tensor table(Writer& w, const View& view, const Shape& shape) {
  Shape size;
  Affine affine{{}, view.indices.offset};
  for (const int d : view.dimensions) {
    size.push_back(shape[d]);
    affine.coefficients.push_back(view.indices.coefficients[d]);
  }
  return evaluated_map(w, affine, size);
}

PermutedTensor view_axes(Emitter& e, Value value, const std::vector<View>& views,
                         const Shape& shape) {
  const PermutedTensor& x = e.tensor_of(value);
  const int rank = static_cast<int>(views.size());
  const std::vector<int> axes =
      x.stored.rank() == rank ? inverse_order(x.order) : identity_order(rank);
  const bool is_trivial = std::ranges::all_of(views, &View::is_trivial);
  Tensor result = is_trivial ? e.broadcastable(value, axes) : e.ordered(value, axes);
  if (result.rank() < rank) {
    Shape spaced = result.shape;
    spaced.insert(spaced.begin(), static_cast<size_t>(rank) - spaced.size(), 1);
    result = e.writer.reshape(result, std::move(spaced));
  }
  std::vector<int64_t> starts, steps, before, after;
  Shape size;
  for (const int axis : axes) {
    const View& view = views[axis];
    starts.push_back(view.start);
    steps.push_back(view.step);
    before.push_back(view.before);
    after.push_back(view.after);
    size.push_back(view.size);
  }
  if (!is_trivial) {
    result = e.writer.slice(result, starts, steps, size);
    result = padded(e.writer, result, before, after);
  }
  std::vector<int> labels;
  for (int j = rank; j-- > 0;) {
    const std::vector<int>& dimensions = views[axes[j]].dimensions;
    if (dimensions.size() > 1) {
      result = e.writer.gather(result, table(e.writer, views[axes[j]], shape), j);
    }
    if (dimensions.empty()) labels.insert(labels.begin(), -1);
    labels.insert(labels.begin(), dimensions.begin(), dimensions.end());
  }
  return labeled(e.writer, result, labels, shape);
}

}  // namespace

PermutedTensor labeled(Writer& w, const Tensor& x, const std::vector<int>& labels,
                       const Shape& shape) {
  Shape stored;
  std::vector<int> axes;
  for (size_t j = 0; j < labels.size(); ++j) {
    if (labels[j] < 0) continue;
    axes.push_back(labels[j]);
    stored.push_back(x.shape[j]);
  }
  const int rank = static_cast<int>(shape.size());
  const bool is_plain = std::ranges::is_sorted(axes);
  if (is_plain) {
    const int first = axes.empty() ? rank : axes[0];
    Shape spaced(rank - first, 1);
    for (size_t j = 0; j < axes.size(); ++j) {
      spaced[axes[j] - first] = stored[j];
    }
    return PermutedTensor::plain(w.reshape(x, std::move(spaced)));
  }
  for (int d = 0; d < rank; ++d) {
    if (std::ranges::find(axes, d) != axes.end()) continue;
    axes.push_back(d);
    stored.push_back(1);
  }
  return PermutedTensor::of(w.reshape(x, std::move(stored)), axes);
}

LinearIndices linear_indices(Writer& w, const AffineMap& map, const Shape& extents,
                             const Shape& shape) {
  LinearIndices result;
  Affine flat{std::vector<int64_t>(extents.size(), 0), 0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Affine& affine = map.axes[axis];
    flat.offset = flat.offset * shape[axis] + affine.offset;
    for (size_t d = 0; d < extents.size(); ++d) {
      flat.coefficients[d] = flat.coefficients[d] * shape[axis] + affine.coefficients[d];
    }
    if (graph::always_inside({{affine}}, extents, {shape[axis]})) continue;
    const Tensor index = evaluated_map(w, affine, extents);
    const Tensor end = w.number(Number::of(shape[axis])), zero = w.number(Number::of(int64_t{0}));
    const Tensor inside = w.map("And", {w.map("GreaterOrEqual", {index, zero}, DType::Bool),
                                        w.map("Less", {index, end}, DType::Bool)});
    result.inside = result.inside ? w.map("And", {*result.inside, inside}) : inside;
  }
  result.flat = evaluated_map(w, flat, extents);
  if (!result.inside) return result;
  const Tensor beyond = w.number(Number::of(element_count(shape)));
  result.flat = w.map("Where", {*result.inside, result.flat, beyond}, DType::I64);
  return result;
}

PermutedTensor reindexed(Emitter& e, Value value, const AffineMap& map, const Shape& shape) {
  const graph::Node& x = e[value];
  if (element_count(shape) == 0) {
    return PermutedTensor::plain(e.writer.constant(x.dtype, shape, SharedBytes()));
  }
  const auto views = views_of(map, shape, x.shape);
  if (!views) return PermutedTensor::plain(e.writer.number(Number::from(x.dtype, 0)));
  if (e.tensor_of(value).stored.rank() == 0 && always_inside(map, shape, x.shape)) {
    return e.tensor_of(value);
  }
  if (are_disjoint(*views)) return view_axes(e, value, *views, shape);
  Writer& w = e.writer;
  const LinearIndices indices = linear_indices(w, map, shape, x.shape);
  Tensor flat = w.reshape(e.plain(value), {element_count(x.shape)});
  if (indices.inside) flat = padded(w, flat, {0}, {1});
  const Tensor picked = w.gather(flat, indices.flat, 0);
  return PermutedTensor::plain(picked);
}

PermutedTensor emit_reindex(Emitter& e, const graph::Node& node) {
  return reindexed(e, node.operands[0], node.map, node.shape);
}

}  // namespace lathe::onnx_export
