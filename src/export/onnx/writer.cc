#include "lathe/export/onnx/writer.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

std::vector<int> identity_order(int rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> concat_lists(std::initializer_list<std::vector<int>> lists) {
  std::vector<int> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

bool is_identity(std::span<const int> order) {
  for (size_t k = 0; k < order.size(); ++k) {
    if (order[k] != static_cast<int>(k)) return false;
  }
  return true;
}

std::vector<int> inverse_order(std::span<const int> order) {
  std::vector<int> inverse(order.size());
  for (size_t k = 0; k < order.size(); ++k) inverse[order[k]] = static_cast<int>(k);
  return inverse;
}

Shape common_shape(std::initializer_list<const Shape*> shapes) {
  Shape common;
  for (const Shape* shape : shapes) {
    if (shape->size() > common.size()) {
      common.insert(common.begin(), shape->size() - common.size(), 1);
    }
    for (size_t k = 0; k < shape->size(); ++k) {
      int64_t& size = common[common.size() - shape->size() + k];
      if (size == 1) size = (*shape)[k];
    }
  }
  return common;
}

namespace {

// Whether only axes of one element are permuted.
bool preserves_order(const Shape& shape, const std::vector<int>& order) {
  int last = -1;
  for (const int axis : order) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

SharedBytes transposed(const Constant& x, const std::vector<int>& order, const Shape& shape) {
  const auto size = static_cast<size_t>(scalar::size_of(x.dtype));
  std::vector<int64_t> strides(x.shape.size(), 1);
  for (size_t axis = x.shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * x.shape[axis];
  std::vector<std::byte> data(x.data.size());
  std::byte* to = data.data();
  for (graph::Odometer at(shape); at.inside(); at.next(), to += size) {
    int64_t from = 0;
    for (size_t k = 0; k < order.size(); ++k) from += at.index()[k] * strides[order[k]];
    std::memcpy(to, x.data.data() + static_cast<size_t>(from) * size, size);
  }
  return data;
}

}  // namespace

std::string Writer::fresh(std::string_view stem) {
  int& number = shared_.numbers[std::string(stem)];
  for (;;) {
    std::string name = concat(stem, "_", number++);
    if (!shared_.reserved_names.contains(name)) return name;
  }
}

Tensor Writer::node(std::string_view op, std::vector<Tensor> inputs, DType dtype, Shape shape,
                    Attributes attributes) {
  Tensor result{fresh(op), dtype, std::move(shape)};
  Node node{std::string(op), {}, {result.name}, std::move(attributes)};
  for (Tensor& input : inputs) node.inputs.push_back(std::move(input.name));
  add(std::move(node));
  return result;
}

Tensor Writer::constant(DType dtype, Shape shape, SharedBytes data, const std::string& weight) {
  std::string name = weight.empty() ? fresh("constant") : weight;
  if (shared_.constant_indices.contains(name)) name = fresh(weight);
  shared_.constant_indices[name] = shared_.constants.size();
  shared_.constants.push_back({name, dtype, shape, std::move(data), weight});
  return {std::move(name), dtype, std::move(shape)};
}

Tensor Writer::integers(const std::vector<int64_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return constant(DType::I64, {static_cast<int64_t>(values.size())},
                  SharedBytes(bytes.begin(), bytes.end()));
}

Tensor Writer::number(const scalar::Number& value) {
  return constant(value.dtype, {}, graph::bytes_of(value));
}

Tensor Writer::full(const scalar::Number& value, Shape shape) {
  return expand(number(value), shape);
}

const Constant* Writer::find_constant(const Tensor& x) const {
  const auto found = shared_.constant_indices.find(x.name);
  return found == shared_.constant_indices.end() ? nullptr : &shared_.constants[found->second];
}

Tensor Writer::transpose(const Tensor& x, const std::vector<int>& order) {
  if (is_identity(order)) return x;
  Shape shape;
  for (const int axis : order) shape.push_back(x.shape[axis]);
  if (preserves_order(x.shape, order)) return reshape(x, std::move(shape));
  if (const Constant* found = find_constant(x)) {
    return constant(x.dtype, shape, transposed(*found, order, shape), std::string(found->weight));
  }
  return node("Transpose", {x}, x.dtype, std::move(shape),
              {{"perm", std::vector<int64_t>(order.begin(), order.end())}});
}

Tensor Writer::reshape(const Tensor& x, Shape shape) {
  if (x.shape == shape) return x;
  if (const Constant* found = find_constant(x)) {
    return constant(x.dtype, std::move(shape), found->data, std::string(found->weight));
  }
  if (const auto before = reshaped_.find(x.name); before != reshaped_.end()) {
    return reshape(Tensor(before->second), std::move(shape));
  }
  Attributes attributes;
  // Otherwise 0 is the size that x has there.
  if (graph::element_count(shape) == 0) attributes["allowzero"] = int64_t{1};
  const Tensor result = node("Reshape", {x, integers(shape)}, x.dtype, shape, attributes);
  reshaped_[result.name] = x;
  return result;
}

Tensor Writer::expand(const Tensor& x, const Shape& shape) {
  if (x.shape == shape) return x;
  return node("Expand", {x, integers(shape)}, x.dtype, shape);
}

Tensor Writer::cast(const Tensor& x, DType dtype) {
  if (x.dtype == dtype) return x;
  return node("Cast", {x}, dtype, x.shape, {{"to", int64_t{element_type(dtype)}}});
}

Tensor Writer::slice(const Tensor& x, const std::vector<int64_t>& starts,
                     const std::vector<int64_t>& steps, const Shape& shape) {
  std::vector<int64_t> from, to, axes, by;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (starts[axis] == 0 && steps[axis] == 1 && shape[axis] == x.shape[axis]) continue;
    axes.push_back(static_cast<int64_t>(axis));
    from.push_back(starts[axis]);
    by.push_back(steps[axis]);
    const int64_t end = starts[axis] + (shape[axis] - 1) * steps[axis] + (steps[axis] > 0 ? 1 : -1);
    // A negative end counts from the back; this one is before all.
    constexpr int64_t kBeforeAll = -(int64_t{1} << 62);
    to.push_back(shape[axis] == 0 ? starts[axis] : end < 0 ? kBeforeAll : end);
  }
  if (axes.empty()) return x;
  return node("Slice", {x, integers(from), integers(to), integers(axes), integers(by)}, x.dtype,
              shape);
}

Tensor Writer::pad(const Tensor& x, const std::vector<int64_t>& before,
                   const std::vector<int64_t>& after, const scalar::Number& value) {
  std::vector<int64_t> pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  if (std::ranges::all_of(pads, [](int64_t each) { return each == 0; })) return x;
  Shape shape = x.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) shape[axis] += before[axis] + after[axis];
  return node("Pad", {x, integers(pads), number(value)}, x.dtype, std::move(shape));
}

Tensor Writer::gather(const Tensor& x, const Tensor& indices, int axis) {
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  return node("Gather", {x, indices}, x.dtype, std::move(shape), {{"axis", int64_t{axis}}});
}

Tensor Writer::concatenate(const std::vector<Tensor>& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0].shape;
  for (size_t k = 1; k < parts.size(); ++k) shape[axis] += parts[k].shape[axis];
  return node("Concat", parts, parts[0].dtype, std::move(shape), {{"axis", int64_t{axis}}});
}

Tensor Writer::map(std::string_view op, std::initializer_list<Tensor> operands, DType dtype) {
  Shape shape;
  for (const Tensor& operand : operands) shape = common_shape({&shape, &operand.shape});
  return node(op, operands, dtype, std::move(shape));
}

Tensor Writer::reduce(std::string_view op, const Tensor& x, const std::vector<int64_t>& axes) {
  Shape shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) shape.push_back(x.shape[axis]);
  }
  if (axes.empty()) return x;
  return node(op, {x, integers(axes)}, x.dtype, std::move(shape), {{"keepdims", int64_t{0}}});
}

Tensor Writer::range(int64_t count) {
  const Tensor end = reshape(integers({count}), {});
  return node("Range",
              {number(scalar::Number::of(int64_t{0})), end, number(scalar::Number::of(int64_t{1}))},
              DType::I64, {count});
}

}  // namespace lathe::onnx_export
