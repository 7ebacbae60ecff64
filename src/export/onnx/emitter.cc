#include "lathe/export/onnx/emitter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/export/onnx/maps.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/evaluate.h"

namespace lathe::onnx_export {

using graph::Kind;

namespace {

constexpr int64_t kMaxFolded = 4096;  // elements

// The stored elements of a constant operand, as many as the shape has; nothing where it is none.
std::optional<graph::Array> constant_array(const Emitter& e, Value value, const Shape& shape) {
  const PermutedTensor& permuted = e.tensor_of(value);
  const Constant* constant = e.writer.find_constant(permuted.stored);
  if (constant == nullptr || !is_identity(permuted.order)) return std::nullopt;
  graph::Array array{constant->dtype, shape, {constant->data.begin(), constant->data.end()}};
  if (constant->shape == shape) return array;
  if (!constant->shape.empty()) return std::nullopt;
  const std::vector<std::byte> one = array.data;
  array.data.clear();
  for (int64_t i = 0; i < element_count(shape); ++i) {
    array.data.insert(array.data.end(), one.begin(), one.end());
  }
  return array;
}

// A map of constants, computed here.
std::optional<PermutedTensor> folded(Emitter& e, const graph::Node& node) {
  Shape shape;
  for (const Value operand : node.operands) {
    shape = common_shape({&shape, &e.tensor_of(operand).stored.shape});
  }
  if (element_count(shape) > kMaxFolded) return std::nullopt;
  std::vector<graph::Array> arrays;
  for (const Value operand : node.operands) {
    auto array = constant_array(e, operand, shape);
    if (!array) return std::nullopt;
    arrays.push_back(*std::move(array));
  }
  std::vector<const graph::Array*> operands;
  for (const graph::Array& array : arrays) operands.push_back(&array);
  graph::Node small = node;
  small.shape = shape;
  graph::Array value = graph::stored(graph::evaluate_node(small, operands), node.dtype);
  return PermutedTensor::plain(e.writer.constant(node.dtype, shape, std::move(value.data)));
}

// The order in which operands are stored already: the first that is not the plain one.
std::vector<int> stored_axes(const Emitter& e, const graph::Node& node) {
  const int rank = static_cast<int>(node.shape.size());
  for (const Value operand : node.operands) {
    const PermutedTensor& permuted = e.tensor_of(operand);
    const bool is_full = element_count(permuted.stored.shape) == element_count(node.shape);
    if (permuted.stored.rank() == rank && is_full && !is_identity(permuted.order)) {
      return inverse_order(permuted.order);
    }
  }
  return identity_order(rank);
}

// The mean that equals a sum times a constant.
std::optional<PermutedTensor> mean_of(const Emitter& e, const graph::Node& node) {
  if (node.op != scalar::Op::Mul && node.op != scalar::Op::Div) return std::nullopt;
  for (const int side : {0, 1}) {
    const PermutedTensor& sum = e.tensor_of(node.operands[side]);
    const auto found = e.means.find(sum.stored.name);
    const auto factor = e.splat(node.operands[1 - side]);
    if (found == e.means.end() || !factor || (side == 1 && node.op == scalar::Op::Div)) continue;
    const double count = node.op == scalar::Op::Div ? factor->as_double() : 1 / factor->as_double();
    constexpr double kRounding = 1e-6;
    if (std::abs(count / found->second.count - 1) > kRounding) continue;
    return PermutedTensor{found->second.mean, sum.order};
  }
  return std::nullopt;
}

// The x of max(x, 0); runtimes fuse Relu with the preceding operator.
std::optional<Value> rectified_by(const Emitter& e, const graph::Node& node) {
  if (node.op != scalar::Op::Max || node.dtype != DType::F32) return std::nullopt;
  for (const size_t side : {0u, 1u}) {
    const auto number = e.splat(node.operands[side]);
    if (number && number->is_zero()) return node.operands[1 - side];
  }
  return std::nullopt;
}

}  // namespace

Tensor Emitter::broadcastable(Value value, const std::vector<int>& axes) {
  const PermutedTensor& permuted = values_[value.id];
  const int rank = static_cast<int>(axes.size());
  const bool is_plain = is_identity(axes);
  if (permuted.stored.rank() < rank && is_plain) return permuted.stored;
  Tensor stored = permuted.stored;
  std::vector<int> order = permuted.order;
  if (permuted.stored.rank() < rank) {
    if (permuted.stored.rank() == 0) return permuted.stored;
    Shape shape = stored.shape;
    shape.insert(shape.begin(), static_cast<size_t>(rank) - shape.size(), 1);
    stored = writer.reshape(stored, std::move(shape));
    order = identity_order(rank);
  }
  std::vector<int> from;
  for (const int axis : axes) from.push_back(order[axis]);
  if (is_identity(from)) return stored;
  const auto [at, is_new] = reordered_.try_emplace({permuted.stored.name, from});
  if (is_new) at->second = writer.transpose(stored, from);
  return at->second;
}

Tensor Emitter::ordered(Value value, const std::vector<int>& axes) {
  Shape shape;
  for (const int axis : axes) shape.push_back(source[value].shape[axis]);
  const Tensor small = broadcastable(value, axes);
  if (small.shape == shape) return small;
  const auto [at, is_new] = expanded_.try_emplace({small.name, shape});
  if (is_new) at->second = writer.expand(small, shape);
  return at->second;
}

std::optional<scalar::Number> Emitter::splat(Value value) const {
  const Tensor& stored = values_[value.id].stored;
  const Constant* constant = writer.find_constant(stored);
  if (constant == nullptr || element_count(constant->shape) != 1) return std::nullopt;
  return graph::load(constant->dtype, {constant->data.data(), constant->data.size()}, 0);
}

Result<PermutedTensor> emit_map(Emitter& e, const graph::Node& node) {
  if (auto constant = folded(e, node)) return *std::move(constant);
  if (auto mean = mean_of(e, node)) return *std::move(mean);
  if (auto padded = emit_padded(e, node)) return *std::move(padded);
  const std::vector<int> axes = stored_axes(e, node);
  std::vector<Tensor> operands;
  for (const Value operand : node.operands) operands.push_back(e.broadcastable(operand, axes));
  if (const auto x = rectified_by(e, node)) {
    const Tensor result = e.writer.map("Relu", {e.broadcastable(*x, axes)});
    return result.shape.size() < axes.size() ? PermutedTensor::plain(result)
                                             : PermutedTensor::of(result, axes);
  }
  LATHE_ASSIGN_OR_RETURN(Tensor result, map(e.writer, node.op, operands));
  if (result.shape.size() < axes.size()) return PermutedTensor::plain(std::move(result));
  return PermutedTensor::of(std::move(result), axes);
}

PermutedTensor emit_cast(Emitter& e, const graph::Node& node) {
  const PermutedTensor& permuted = e.tensor_of(node.operands[0]);
  return {convert(e.writer, permuted.stored, node.dtype), permuted.order};
}

namespace {

PermutedTensor emit_constant(Emitter& e, const graph::Node& node) {
  const bool is_splat = graph::is_splat(node);
  if (element_count(node.shape) == 0) {
    return PermutedTensor::plain(e.writer.constant(node.dtype, node.shape, SharedBytes()));
  }
  return PermutedTensor::plain(
      e.writer.constant(node.dtype, is_splat ? Shape() : node.shape, node.data));
}

PermutedTensor emit_iota(Emitter& e, const graph::Node& node) {
  if (element_count(node.shape) == 0) {
    return PermutedTensor::plain(e.writer.constant(node.dtype, node.shape, SharedBytes()));
  }
  const auto axis = static_cast<size_t>(node.axes[0]);
  Shape shape(node.shape.size() - axis, 1);
  shape[0] = node.shape[axis];
  const Tensor indices = e.writer.cast(e.writer.range(node.shape[axis]), DType::I32);
  return PermutedTensor::plain(e.writer.reshape(indices, std::move(shape)));
}

Result<PermutedTensor> emit(Emitter& e, const graph::Node& node) {
  switch (node.kind) {
    case Kind::Constant:
      return emit_constant(e, node);
    case Kind::Iota:
      return emit_iota(e, node);
    case Kind::Map:
      return emit_map(e, node);
    case Kind::Cast:
      return emit_cast(e, node);
    case Kind::Reduce:
      return emit_reduce(e, node);
    case Kind::Contract:
      return emit_contract(e, node);
    case Kind::Reshape:
      return emit_reshape(e, node);
    case Kind::Reindex:
      return emit_reindex(e, node);
    case Kind::Join:
      return emit_join(e, node);
    case Kind::Gather:
      return emit_gather(e, node);
    case Kind::Scatter:
      return emit_scatter(e, node);
    case Kind::Scan:
      return emit_scan(e, node);
    case Kind::Sort:
      return emit_sort(e, node);
    case Kind::Item:
      return PermutedTensor::plain(e.loops.at(node.operands[0].id)[node.item]);
    case Kind::Input:
    case Kind::State:
    case Kind::Loop:
      break;
  }
  return PermutedTensor();
}

}  // namespace

// Inputs and states are permuted before.
Status emit_nodes(Emitter& e) {
  for (size_t id = 0; id < e.source.nodes.size(); ++id) {
    const graph::Node& node = e.source.nodes[id];
    const Value value{static_cast<int32_t>(id)};
    if (node.kind == Kind::Input || node.kind == Kind::State) continue;
    if (node.kind == Kind::Loop) {
      LATHE_TRY(emit_loop(e, value));
      continue;
    }
    LATHE_ASSIGN_OR_RETURN(PermutedTensor permuted, emit(e, node));
    e.set(value, std::move(permuted));
  }
  return {};
}

}  // namespace lathe::onnx_export
