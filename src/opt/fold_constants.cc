// Visits nodes in order, so constants travel as far as they can in one walk.
#include "lathe/opt/fold_constants.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lathe/graph/elements.h"
#include "lathe/graph/evaluate.h"
#include "lathe/opt/widen_float16.h"

namespace lathe::opt {

using graph::Affine;
using graph::Array;
using graph::element_count;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;

namespace {

constexpr int64_t kMaxElements = 4096;
constexpr int64_t kMaxSteps = 65536;

// The one value that fills the result, found from the splat values of the operands.
std::optional<scalar::Number> splat_result(const Graph& graph, const Node& node) {
  // Joins have any number of operands.
  if (node.operands.size() > scalar::kMaxArity) return std::nullopt;
  scalar::Number operands[scalar::kMaxArity];
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Node& operand = graph[node.operands[i]];
    if (!is_splat(operand)) return std::nullopt;
    operands[i] = splat_value(operand);
  }
  switch (node.kind) {
    case Kind::Map:
      return scalar::evaluate(node.op, operands);
    case Kind::Cast:
      return scalar::cast(operands[0], node.dtype);
    case Kind::Reindex:
      if (!always_inside(node.map, node.shape, graph[node.operands[0]].shape)) return std::nullopt;
      return operands[0];
    case Kind::Reduce: {
      const int64_t all = element_count(graph[node.operands[0]].shape);
      if (all == 0 || node.op != graph::Op::Add || node.dtype != graph::DType::F32) {
        return std::nullopt;
      }
      const double count = static_cast<double>(all) / element_count(node.shape);
      return scalar::Number::of(static_cast<float>(operands[0].f * count));
    }
    case Kind::Input:
    case Kind::State:
    case Kind::Constant:
    case Kind::Iota:
    case Kind::Contract:
    case Kind::Reshape:
    case Kind::Join:
    case Kind::Gather:
    case Kind::Scatter:
    case Kind::Scan:
    case Kind::Sort:
    case Kind::Loop:
    case Kind::Item:
      return std::nullopt;
  }
  return std::nullopt;
}

// Elements that the evaluator visits.
int64_t steps(const Graph& graph, const Node& node) {
  int64_t count = std::max(element_count(node.shape), element_count(node.contraction.extents));
  for (Value operand : node.operands) {
    count = std::max(count, element_count(graph[operand].shape));
  }
  return count;
}

std::vector<std::byte> evaluated(const Graph& graph, const Node& node) {
  std::vector<Array> arrays;
  std::vector<const Array*> operands;
  arrays.reserve(node.operands.size());
  for (Value operand : node.operands) {
    arrays.push_back(evaluate_node(graph[operand], {}));
    operands.push_back(&arrays.back());
  }
  return graph::stored(evaluate_node(node, operands), node.dtype).data;
}

void shrink_to_splat(Node& node) {
  const size_t size = scalar::size_of(node.dtype);
  if (node.data.size() <= size) return;
  if (std::equal(node.data.begin() + size, node.data.end(), node.data.begin())) {
    node.data = {node.data.begin(), node.data.begin() + size};
  }
}

bool is_constant(const Graph& graph, Value value) { return graph[value].kind == Kind::Constant; }

// The offset of an element of the view in a tensor of this shape.
Affine offset_of(const Node& view, const Shape& shape) {
  Affine row_major{std::vector<int64_t>(shape.size()), 0};
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
    row_major.coefficients[axis] = stride;
  }
  return compose({{row_major}}, view.map, static_cast<int>(view.shape.size())).axes[0];
}

// A constant times a view of another, of any size: what fold_scales leaves of weights.
std::optional<std::vector<std::byte>> scaled(const Graph& graph, const Node& node) {
  if (node.kind != Kind::Map || node.op != graph::Op::Mul || node.dtype != graph::DType::F32) {
    return std::nullopt;
  }
  const Node &operand = graph[node.operands[0]], &view = graph[node.operands[1]];
  const bool is_float16 =
      operand.kind == Kind::Cast && graph[operand.operands[0]].dtype == graph::DType::F16;
  const Node& weights = is_float16 ? graph[operand.operands[0]] : operand;
  if (weights.kind != Kind::Constant || is_splat(weights)) return std::nullopt;
  const Node& scale = view.kind == Kind::Reindex ? graph[view.operands[0]] : view;
  if (scale.kind != Kind::Constant) return std::nullopt;
  Affine offset{std::vector<int64_t>(node.shape.size()), 0};
  if (!is_splat(scale)) {
    if (&scale == &view || !always_inside(view.map, view.shape, scale.shape)) return std::nullopt;
    offset = offset_of(view, scale.shape);
  }
  const SharedBytes floats = is_float16 ? f32_of_f16(weights.data) : weights.data;
  std::vector<std::byte> data(floats.begin(), floats.end());
  auto* result = reinterpret_cast<float*>(data.data());
  const auto* factors = reinterpret_cast<const float*>(scale.data.data());
  Shape rows = node.shape;
  const int64_t columns = std::exchange(rows.back(), 1), step = offset.coefficients.back();
  for (graph::Odometer at(rows); at.inside(); at.next()) {
    const float* factor = factors + offset.at(at.index());
    for (int64_t i = 0; i < columns; ++i, factor += step) *result++ *= *factor;
  }
  return data;
}

// Whether its float16 has more bits than the type.
bool has_more_bits(const Node& node) {
  if (!scalar::is_half(node.dtype)) return false;
  return node.loose || node.kind == Kind::Map || node.kind == Kind::Reduce ||
         node.kind == Kind::Scan || node.kind == Kind::Scatter;
}

void fold(Graph& graph, Node& node) {
  if (node.kind == Kind::Constant) return shrink_to_splat(node);
  if (node.operands.empty() || node.kind == Kind::Loop || node.kind == Kind::Item) return;
  if (has_more_bits(node)) return;
  Node folded{.kind = Kind::Constant, .dtype = node.dtype, .shape = node.shape};
  const bool constant = std::all_of(node.operands.begin(), node.operands.end(),
                                    [&](Value operand) { return is_constant(graph, operand); });
  const auto number = constant ? splat_result(graph, node) : std::nullopt;
  if (constant && node.kind == Kind::Reshape) {
    folded.data = graph[node.operands[0]].data;
  } else if (number) {
    folded.data = graph::bytes_of(*number);
  } else if (constant && element_count(node.shape) <= kMaxElements &&
             steps(graph, node) <= kMaxSteps) {
    folded.data = evaluated(graph, node);
  } else if (auto data = scaled(graph, node)) {
    folded.data = *std::move(data);
  } else {
    return;
  }
  shrink_to_splat(folded);
  node = std::move(folded);
}

}  // namespace

Graph fold_constants(Graph graph) {
  for (Node& node : graph.nodes) fold(graph, node);
  return graph;
}

}  // namespace lathe::opt
