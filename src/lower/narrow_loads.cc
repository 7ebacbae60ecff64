#include "lathe/lower/narrow_loads.h"

#include <algorithm>
#include <vector>

#include "lathe/loop/loop.h"
#include "lathe/lower/fuse_groups.h"

namespace lathe::lower {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;
using scalar::DType;

namespace {

constexpr int64_t kFewReads = 4;
constexpr size_t kMaxOperations = 24;  // operations

}  // namespace

bool only_widens(const Graph& graph, Value value) {
  const Node& n = graph[value];
  if (n.kind != Kind::Cast) return false;
  const DType from = graph[n.operands[0]].dtype;
  return scalar::is_integer(from) == scalar::is_integer(n.dtype) && scalar::is_computed(n.dtype) &&
         !scalar::is_computed(from);
}

std::optional<NarrowSource> find_narrow_source(const Graph& graph, Value value) {
  if (graph[value].dtype != DType::F32) return std::nullopt;
  NarrowSource result{{}, {value}};
  for (std::vector<Value> rest = {value}; !rest.empty();) {
    const Node& n = graph[rest.back()];
    rest.pop_back();
    if (n.kind != Kind::Map && n.kind != Kind::Cast) return std::nullopt;
    for (Value operand : n.operands) {
      if (graph::is_splat(graph[operand])) continue;
      const DType dtype = graph[operand].dtype;
      if (scalar::is_computed(dtype)) {
        if (result.values.insert(operand).second) rest.push_back(operand);
      } else if (!result.numbers.valid() || result.numbers == operand) {
        result.numbers = operand;
      } else {
        return std::nullopt;
      }
    }
    if (result.values.size() > kMaxOperations) return std::nullopt;
  }
  return result.numbers.valid() ? std::optional(result) : std::nullopt;
}

std::optional<ConstantExpression> find_constant_expression(const Graph& graph, Value value) {
  if (graph[value].dtype != DType::F32) return std::nullopt;
  ConstantExpression result{{}, {value}};
  bool has_integers = false;
  int64_t bytes = 0;
  for (std::vector<Value> rest = {value}; !rest.empty();) {
    const Node& n = graph[rest.back()];
    rest.pop_back();
    const bool views = (n.kind == Kind::Reindex && always_inside(graph, n)) ||
                       (n.kind == Kind::Reshape && only_squeezes(graph, n));
    if (n.kind == Kind::Iota) continue;
    if (n.kind != Kind::Map && n.kind != Kind::Cast && !views) return std::nullopt;
    for (Value operand : n.operands) {
      if (graph::is_splat(graph[operand])) continue;
      if (graph[operand].kind != Kind::Constant) {
        if (result.values.insert(operand).second) rest.push_back(operand);
      } else if (result.constants.insert(operand).second) {
        bytes += static_cast<int64_t>(graph[operand].data.size());
        has_integers |= scalar::is_integer(graph[operand].dtype);
      }
    }
    if (result.values.size() > kMaxOperations) return std::nullopt;
  }
  const int64_t full_bytes = graph::element_count(graph[value].shape) * scalar::size_of(DType::F32);
  return has_integers && bytes < full_bytes ? std::optional(result) : std::nullopt;
}

bool is_of_columns(const Graph& graph, const Node& contract, Value operand, int64_t lanes) {
  const graph::Contraction& of = contract.contraction;
  const graph::Shape& shape = contract.shape;
  if (shape.size() != 2 || shape[1] < lanes || !of.out.is_projection()) return false;
  const auto column = static_cast<size_t>(of.out.axes[1].single_dimension());
  const auto& map = contract.operands[0] == operand ? of.lhs : of.rhs;
  return graph::element_count(of.extents) ==
             shape[0] * graph::element_count(graph[operand].shape) &&
         std::ranges::any_of(map.axes, [column](const graph::Affine& axis) {
           return axis.coefficients[column] != 0;
         });
}

bool is_read_rarely(const Graph& graph, const Node& contract, Value operand) {
  return graph::element_count(contract.contraction.extents) <=
         kFewReads * graph::element_count(graph[operand].shape);
}

}  // namespace lathe::lower
