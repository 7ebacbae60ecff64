#include "lathe/opt/prune_loops.h"

#include <memory>

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
  std::vector<bool> needed(body.nodes.size());
  if (loop.repetition.has_condition()) {
    needed[static_cast<size_t>(inputs[static_cast<size_t>(loop.repetition.condition)].id)] = true;
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t k = 0; k < used_results.size(); ++k) {
      if (used_results[k]) needed[static_cast<size_t>(body.outputs[k].value.id)] = true;
    }
    for (size_t id = body.nodes.size(); id-- > 0;) {
      if (!needed[id]) continue;
      for (Value operand : body.nodes[id].operands) needed[static_cast<size_t>(operand.id)] = true;
    }
    for (size_t k = 0; k < static_cast<size_t>(loop.repetition.carried); ++k) {
      if (used_results[k] || !needed[static_cast<size_t>(inputs[k].id)]) continue;
      used_results[k] = grows = true;
    }
  }
  return needed;
}

// New indices of the remaining results, -1 for others.
std::vector<int> prune(const Graph& graph, Node& loop, std::vector<bool> used_results) {
  const std::vector<Value> inputs = inputs_of(*loop.body);
  const std::vector<bool> needed = find_needs(loop, inputs, used_results);
  const graph::Repetition before = loop.repetition;
  auto body = std::make_shared<Graph>(*loop.body);
  std::vector<Value> operands;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Node& operand = graph[loop.operands[k]];
    const bool is_carried = before.is_carried(k);
    const bool is_condition = static_cast<int>(k) == before.condition;
    const bool used =
        is_carried ? used_results[k] : bool{needed[static_cast<size_t>(inputs[k].id)]};
    Node& input = body->nodes[static_cast<size_t>(inputs[k].id)];
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
  std::vector<int> new_indices(used_results.size(), -1);
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
  std::vector<std::vector<bool>> used(graph.nodes.size());
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.kind == Kind::Loop) used[id].resize(node.body->outputs.size());
    if (node.kind == Kind::Item) {
      used[static_cast<size_t>(node.operands[0].id)][static_cast<size_t>(node.item)] = true;
    }
  }
  std::vector<std::vector<int>> new_indices(graph.nodes.size());
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    Node& node = graph.nodes[id];
    if (node.kind == Kind::Loop) new_indices[id] = prune(graph, node, std::move(used[id]));
    if (node.kind == Kind::Item) {
      node.item =
          new_indices[static_cast<size_t>(node.operands[0].id)][static_cast<size_t>(node.item)];
    }
  }
  return graph;
}

}  // namespace lathe::opt
