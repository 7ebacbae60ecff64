#include "lower/lay_out_operands.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace lathe::lower {

using graph::AffineMap;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;

namespace {

// The axis of the operand that must become the last one, or -1.
int misplaced_axis(const AffineMap& map, int dimension) {
  if (!map.is_projection()) return -1;
  for (size_t axis = 0; axis + 1 < map.axes.size(); ++axis) {
    if (map.axes[axis].single_dimension() == dimension) return static_cast<int>(axis);
  }
  return -1;
}

Node permuted(const Graph& graph, Value operand, int axis, AffineMap& map) {
  const Node& from = graph[operand];
  const int rank = static_cast<int>(from.shape.size());
  std::rotate(map.axes.begin() + axis, map.axes.begin() + axis + 1, map.axes.end());
  std::vector<int> place(static_cast<size_t>(rank));  // of each axis of `from` in the result
  std::iota(place.begin(), place.end(), 0);
  for (int i = axis + 1; i < rank; ++i) place[static_cast<size_t>(i)] = i - 1;
  place[static_cast<size_t>(axis)] = rank - 1;

  Node node;
  node.kind = Kind::Reindex;
  node.dtype = from.dtype;
  node.operands = {operand};
  node.shape = from.shape;
  std::rotate(node.shape.begin() + axis, node.shape.begin() + axis + 1, node.shape.end());
  node.map = AffineMap::project(rank, place);
  return node;
}

}  // namespace

Graph lay_out_operands(Graph graph) {
  std::vector<Node> nodes = std::exchange(graph.nodes, {});
  std::vector<Value> renamed;
  const auto add = [&](Node node) {
    graph.nodes.push_back(std::move(node));
    return Value{static_cast<int32_t>(graph.nodes.size() - 1)};
  };
  for (Node& node : nodes) {
    for (Value& operand : node.operands) operand = renamed[static_cast<size_t>(operand.id)];
    if (node.kind == Kind::Contract && !node.shape.empty() && node.shape.back() > 1) {
      graph::Contraction& contraction = node.contraction;
      const int last = contraction.out.axes.back().single_dimension();
      for (size_t i = 0; i < 2 && last >= 0; ++i) {
        AffineMap& map = i == 0 ? contraction.lhs : contraction.rhs;
        const int axis = misplaced_axis(map, last);
        if (axis >= 0) node.operands[i] = add(permuted(graph, node.operands[i], axis, map));
      }
    }
    renamed.push_back(add(std::move(node)));
  }
  for (auto& output : graph.outputs) output.value = renamed[static_cast<size_t>(output.value.id)];
  for (auto& update : graph.updates) {
    update.state = renamed[static_cast<size_t>(update.state.id)];
    update.value = renamed[static_cast<size_t>(update.value.id)];
  }
  return graph;
}

}  // namespace lathe::lower
