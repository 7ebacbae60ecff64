// Contractions as products of matrices: operands are views over the dimensions that they know, and
// elements that several products add to are scattered.
#include <algorithm>

#include "lathe/export/onnx/emitter.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

using graph::AffineMap;
using graph::Contraction;
using scalar::Number;

namespace {

std::vector<int> dimensions_of(const AffineMap& map, const Shape& extents) {
  std::vector<int> used;
  for (size_t d = 0; d < extents.size(); ++d) {
    const bool is_used = std::ranges::any_of(
        map.axes, [d](const graph::Affine& axis) { return axis.coefficients[d] != 0; });
    if (is_used) used.push_back(static_cast<int>(d));
  }
  return used;
}

Shape sizes_of(const std::vector<int>& dimensions, const Shape& extents) {
  Shape sizes;
  for (const int d : dimensions) sizes.push_back(extents[d]);
  return sizes;
}

// The map over these dimensions only, which are all that it uses.
AffineMap restricted(const AffineMap& map, const std::vector<int>& dimensions) {
  AffineMap summed;
  for (const graph::Affine& axis : map.axes) {
    graph::Affine& affine = summed.axes.emplace_back();
    affine.offset = axis.offset;
    for (const int d : dimensions) affine.coefficients.push_back(axis.coefficients[d]);
  }
  return summed;
}

// An operand over dimensions of the iteration space.
struct Side {
  Emitter& e;
  PermutedTensor tensor;
  std::vector<int> dimensions, all;  // of its axes, now and at first

  Side(Emitter& emitter, Value value, const AffineMap& map, const Shape& extents)
      : e(emitter), dimensions(dimensions_of(map, extents)), all(dimensions) {
    shape_ = sizes_of(dimensions, extents);
    tensor = reindexed(e, value, restricted(map, dimensions), shape_);
    const bool is_unsigned =
        scalar::is_integer(tensor.stored.dtype) && !scalar::is_signed(tensor.stored.dtype);
    if (is_unsigned) tensor.stored = e.writer.cast(tensor.stored, DType::I64);
  }
  Side(Emitter& emitter, PermutedTensor x, std::vector<int> axes, const Shape& extents)
      : e(emitter), tensor(std::move(x)), dimensions(std::move(axes)), all(dimensions) {
    shape_ = sizes_of(dimensions, extents);
  }

  // The tensor with its axes in the order of these dimensions.
  Tensor ordered(const std::vector<int>& order) {
    const int rank = static_cast<int>(shape_.size());
    Tensor x = tensor.stored;
    if (x.rank() < rank) {
      Shape spaced = x.shape;
      spaced.insert(spaced.begin(), static_cast<size_t>(rank - x.rank()), 1);
      x = e.writer.reshape(x, std::move(spaced));
      tensor = PermutedTensor::plain(x);
    }
    std::vector<int> from;
    Shape shape;
    for (const int d : order) {
      const auto axis = std::ranges::find(dimensions, d) - dimensions.begin();
      from.push_back(tensor.order[axis]);
      shape.push_back(shape_[axis]);
    }
    return e.writer.expand(e.writer.transpose(x, from), shape);
  }

  // Sums over the dimensions that neither the other side nor the result has.
  void sum_over(const std::vector<int>& others) {
    std::vector<int> shared, summed;
    for (const int d : dimensions) (has(others, d) ? shared : summed).push_back(d);
    if (summed.empty()) return;
    std::vector<int> order = shared;
    order.insert(order.end(), summed.begin(), summed.end());
    std::vector<int64_t> axes;
    for (size_t k = shared.size(); k < order.size(); ++k) axes.push_back(static_cast<int64_t>(k));
    const Tensor all_terms = ordered(order);
    tensor = PermutedTensor::plain(e.writer.reduce("ReduceSum", all_terms, axes));
    dimensions = shared;
    shape_ = tensor.stored.shape;
  }

 private:
  Shape shape_;
};

// Dimensions by which sides and the result have them.
struct Roles {
  std::vector<int> batch, rows, columns, inner;
};

Roles roles_of(const Side& lhs, const Side& rhs, const std::vector<int>& out) {
  Roles roles;
  for (const int d : out) {
    const bool left = has(lhs.dimensions, d), right = has(rhs.dimensions, d);
    if (left || right)
      (left && right ? roles.batch : left ? roles.rows : roles.columns).push_back(d);
  }
  for (const int d : lhs.dimensions) {
    if (has(rhs.dimensions, d) && !has(out, d)) roles.inner.push_back(d);
  }
  return roles;
}

// Sums of products over [batch…, rows…, columns…].
Tensor product(Writer& w, Side& lhs, Side& rhs, const Roles& roles, const Shape& extents) {
  const Shape batch = sizes_of(roles.batch, extents), rows = sizes_of(roles.rows, extents);
  const Shape columns = sizes_of(roles.columns, extents);
  Shape result = batch;
  result.insert(result.end(), rows.begin(), rows.end());
  result.insert(result.end(), columns.begin(), columns.end());
  const Tensor left = lhs.ordered(concat_lists({roles.batch, roles.rows, roles.inner}));
  const auto merged = [&](int64_t first, int64_t second) {
    Shape shape = batch;
    shape.insert(shape.end(), {first, second});
    return shape;
  };
  if (roles.inner.empty()) {
    Shape spaced = left.shape;
    spaced.insert(spaced.end(), columns.size(), 1);
    const Tensor wide = w.reshape(left, std::move(spaced));
    Shape right_shape = batch;
    right_shape.insert(right_shape.end(), rows.size(), 1);
    right_shape.insert(right_shape.end(), columns.begin(), columns.end());
    const Tensor right = rhs.ordered(concat_lists({roles.batch, roles.columns}));
    return w.map("Mul", {wide, w.reshape(right, std::move(right_shape))});
  }
  const int64_t m = element_count(rows), n = element_count(columns),
                k = element_count(sizes_of(roles.inner, extents));
  const Tensor right = rhs.ordered(concat_lists({roles.batch, roles.inner, roles.columns}));
  const Tensor y = w.reshape(right, merged(k, n));
  // The rows of one matrix may have several axes.
  Shape left_shape = merged(m, k), shape = merged(m, n);
  if (batch.empty() && !rows.empty()) {
    left_shape = shape = rows;
    left_shape.push_back(k);
    shape.push_back(n);
  }
  const Tensor x = w.reshape(left, std::move(left_shape));
  return w.reshape(w.node("MatMul", {x, y}, x.dtype, std::move(shape)), std::move(result));
}

// The values, scattered with addition into a tensor of the shape.
Tensor scattered(Writer& w, const Tensor& values, const AffineMap& map, const Shape& shape) {
  const int64_t size = element_count(shape);
  const LinearIndices indices = linear_indices(w, map, values.shape, shape);
  const Tensor index =
      w.reshape(w.expand(indices.flat, values.shape), {element_count(values.shape)});
  const Tensor zeros = w.full(Number::from(values.dtype, 0), {size + (indices.inside ? 1 : 0)});
  const Tensor sums =
      w.node("ScatterElements", {zeros, index, w.reshape(values, {element_count(values.shape)})},
             values.dtype, zeros.shape, {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
  return w.reshape(w.slice(sums, {0}, {1}, {size}), shape);
}

// The number of times that each product is added: the extents of unused dimensions.
int64_t repetitions(const Contraction& c, const std::vector<int>& dimensions) {
  int64_t times = 1;
  for (size_t d = 0; d < c.extents.size(); ++d) {
    if (!has(dimensions, static_cast<int>(d))) times *= c.extents[d];
  }
  return times;
}

// The result axis of each of these dimensions; nothing if an axis is anything else.
std::optional<std::vector<int>> labels_of(const Contraction& c, const std::vector<int>& dimensions,
                                          const Shape& shape) {
  std::vector<int> labels(dimensions.size(), -1);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const graph::Affine& affine = c.out.axes[axis];
    const bool is_single = shape[axis] == 1 && affine.offset == 0 &&
                           std::ranges::count(affine.coefficients, 0) ==
                               static_cast<std::ptrdiff_t>(affine.coefficients.size());
    const int d = affine.single_dimension();
    if (is_single) continue;
    if (d < 0 || c.extents[d] != shape[axis]) return std::nullopt;
    const auto found = std::ranges::find(dimensions, d);
    if (found == dimensions.end()) continue;
    int& label = labels[found - dimensions.begin()];
    if (label >= 0) return std::nullopt;
    label = static_cast<int>(axis);
  }
  if (has(labels, -1)) return std::nullopt;
  return labels;
}

}  // namespace

PermutedTensor emit_contract(Emitter& e, const graph::Node& node) {
  const Contraction& c = node.contraction;
  const bool is_empty = element_count(c.extents) == 0 || element_count(node.shape) == 0 ||
                        element_count(e[node.operands[0]].shape) == 0 ||
                        element_count(e[node.operands[1]].shape) == 0;
  if (is_empty) {
    if (element_count(node.shape) > 0) {
      return PermutedTensor::plain(e.writer.number(Number::from(node.dtype, 0)));
    }
    return PermutedTensor::plain(e.writer.constant(node.dtype, node.shape, SharedBytes()));
  }
  if (auto tensor = emit_convolution(e, node)) return *std::move(tensor);
  Side lhs(e, node.operands[0], c.lhs, c.extents), rhs(e, node.operands[1], c.rhs, c.extents);
  const std::vector<int> out = dimensions_of(c.out, c.extents);
  lhs.sum_over(concat_lists({rhs.dimensions, out}));
  rhs.sum_over(concat_lists({lhs.dimensions, out}));
  const Roles roles = roles_of(lhs, rhs, out);
  Writer& w = e.writer;
  Tensor sums = product(w, lhs, rhs, roles, c.extents);
  if (const int64_t times = repetitions(c, concat_lists({lhs.all, rhs.all, out})); times != 1) {
    sums = w.map("Mul", {sums, w.number(Number::integer(sums.dtype, times))});
  }
  const std::vector<int> dimensions = concat_lists({roles.batch, roles.rows, roles.columns});
  if (const auto labels = labels_of(c, dimensions, node.shape)) {
    return labeled(w, w.cast(sums, node.dtype), *labels, node.shape);
  }
  // Over all dimensions of the result's map.
  std::vector<int> labels;
  for (const int d : dimensions) {
    labels.push_back(static_cast<int>(std::ranges::find(out, d) - out.begin()));
  }
  const PermutedTensor spread = labeled(w, sums, labels, sizes_of(out, c.extents));
  Side values(e, spread, out, c.extents);
  const AffineMap map = restricted(c.out, out);
  return PermutedTensor::plain(
      w.cast(scattered(w, values.ordered(out), map, node.shape), node.dtype));
}

}  // namespace lathe::onnx_export
