#include "lathe/opt/prune_loops.h"

#include <memory>

#include "lathe/base/table.h"
#include "lathe/graph/elements.h"

namespace lathe::opt {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;

namespace {

// Which nodes of the body the used results depend on; marks results that those depend on in turn.
std::vector<bool> find_needs(const Node& loop, const std::vector<Value>& inputs,
                             std::vector<bool>& used_results) {
  const Graph& body = *loop.body;
  Table<Value, bool> needed(body.nodes.size());
  if (loop.repetition.has_condition()) {
    needed[inputs[loop.repetition.condition]] = true;
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t k = 0; k < used_results.size(); ++k) {
      if (used_results[k]) needed[body.outputs[k].value] = true;
    }
    for (size_t id = body.nodes.size(); id-- > 0;) {
      if (!needed[id]) continue;
      for (Value operand : body.nodes[id].operands) needed[operand] = true;
    }
    for (size_t k = 0; k < static_cast<size_t>(loop.repetition.carried); ++k) {
      if (used_results[k] || !needed[inputs[k]]) continue;
      used_results[k] = grows = true;
    }
  }
  return needed;
}

// New indices of the remaining results, -1 for others.
std::vector<int> prune(const Graph& graph, Node& loop, std::vector<bool> used_results) {
  const std::vector<Value> inputs = inputs_of(*loop.body);
  const Table<Value, bool> needed = find_needs(loop, inputs, used_results);
  const graph::Repetition before = loop.repetition;
  auto body = std::make_shared<Graph>(*loop.body);
  std::vector<Value> operands;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Node& operand = graph[loop.operands[k]];
    const bool is_carried = before.is_carried(k);
    const bool is_condition = static_cast<int>(k) == before.condition;
    const bool used = is_carried ? used_results[k] : bool{needed[inputs[k]]};
    Node& input = body->nodes[inputs[k]];
    if (used && (is_carried || is_condition || !is_splat(operand))) {
      if (is_condition) loop.repetition.condition = static_cast<int>(operands.size());
      operands.push_back(loop.operands[k]);
      continue;
    }
    if (is_carried) {
      --loop.repetition.carried;
    } else if (before.is_sliced(k)) {
      --loop.repetition.sliced;
    }
    // What nothing needs is replaced by any constant.
    input = {.kind = Kind::Constant,
             .dtype = input.dtype,
             .shape = input.shape,
             .data = graph::bytes_of(is_splat(operand) ? splat_value(operand)
                                                       : scalar::Number::from(input.dtype, 0))};
  }
  loop.operands = std::move(operands);
  Table<Value, int> new_indices(used_results.size(), -1);
  body->outputs.clear();
  for (size_t k = 0; k < used_results.size(); ++k) {
    if (!used_results[k]) continue;
    new_indices[k] = static_cast<int>(body->outputs.size());
    body->outputs.push_back(loop.body->outputs[k]);
  }
  loop.body = std::move(body);
  return new_indices;
}

}  // namespace

Graph prune_loops(Graph graph) {
  Table<Value, std::vector<bool>> used(graph.nodes.size());
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.kind == Kind::Loop) used[id].resize(node.body->outputs.size());
    if (node.kind == Kind::Item) {
      used[node.operands[0]][node.item] = true;
    }
  }
  Table<Value, std::vector<int>> new_indices(graph.nodes.size());
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    Node& node = graph.nodes[id];
    if (node.kind == Kind::Loop) new_indices[id] = prune(graph, node, std::move(used[id]));
    if (node.kind == Kind::Item) {
      node.item = new_indices[node.operands[0]][node.item];
    }
  }
  return graph;
}

}  // namespace lathe::opt
