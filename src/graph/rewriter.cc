#include "lathe/graph/rewriter.h"

#include <utility>

#include "lathe/base/table.h"
#include "lathe/graph/elements.h"

namespace lathe::graph {

Value Rewriter::add(Node node) { return graph_.nodes.push_back(std::move(node)); }

Value Rewriter::map(Op op, std::vector<Value> operands) {
  const Node& like = graph_[operands[0]];
  Node node{.kind = Kind::Map, .dtype = like.dtype, .shape = like.shape, .op = op};
  node.operands = std::move(operands);
  return add(std::move(node));
}

Value Rewriter::splat(const scalar::Number& number, Shape shape) {
  Node node{.kind = Kind::Constant, .dtype = number.dtype, .shape = std::move(shape)};
  node.data = bytes_of(number);
  return add(std::move(node));
}

Value Rewriter::reshape(Value operand, Shape shape) {
  return add({.kind = Kind::Reshape,
              .dtype = graph_[operand].dtype,
              .shape = std::move(shape),
              .operands = {operand}});
}

Value Rewriter::reindex(Value operand, AffineMap map, Shape shape) {
  Node node{.kind = Kind::Reindex, .dtype = graph_[operand].dtype, .operands = {operand}};
  node.shape = std::move(shape);
  node.map = std::move(map);
  return add(std::move(node));
}

Graph Rewriter::run(Graph graph) {
  std::vector<Node> nodes = std::exchange(graph.nodes, {});
  graph_ = std::move(graph);
  Table<Value, Value> renamed;
  for (Node& node : nodes) {
    for (Value& operand : node.operands) operand = renamed[operand];
    const size_t first = graph_.nodes.size();
    const Part part = node.part;
    renamed.push_back(replace(std::move(node)));
    join_part(graph_, first, part);
  }
  rename_results(graph_, renamed);
  return std::move(graph_);
}

void rename_results(Graph& graph, const Table<Value, Value>& renamed) {
  for (Output& output : graph.outputs) output.value = renamed[output.value];
  for (Update& update : graph.updates) {
    update = {renamed[update.state], renamed[update.value]};
  }
}

}  // namespace lathe::graph
