#include "opt/eliminate_dead_code.h"

#include <utility>
#include <vector>

namespace lathe::opt {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;

Graph eliminate_dead_code(Graph graph) {
  std::vector<bool> used(graph.nodes.size());
  for (const graph::Output& output : graph.outputs)
    used[static_cast<size_t>(output.value.id)] = true;
  for (const graph::Update& update : graph.updates) {
    used[static_cast<size_t>(update.state.id)] = true;
    used[static_cast<size_t>(update.value.id)] = true;
  }
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    if (graph.nodes[id].kind == Kind::Input) used[id] = true;
    if (!used[id]) continue;
    for (Value operand : graph.nodes[id].operands) used[static_cast<size_t>(operand.id)] = true;
  }
  std::vector<Value> renamed(graph.nodes.size());
  std::vector<Node> nodes = std::exchange(graph.nodes, {});
  for (size_t id = 0; id < nodes.size(); ++id) {
    if (!used[id]) continue;
    for (Value& operand : nodes[id].operands) operand = renamed[static_cast<size_t>(operand.id)];
    renamed[id] = Value{static_cast<int32_t>(graph.nodes.size())};
    graph.nodes.push_back(std::move(nodes[id]));
  }
  for (graph::Output& output : graph.outputs)
    output.value = renamed[static_cast<size_t>(output.value.id)];
  for (graph::Update& update : graph.updates) {
    update.state = renamed[static_cast<size_t>(update.state.id)];
    update.value = renamed[static_cast<size_t>(update.value.id)];
  }
  return graph;
}

}  // namespace lathe::opt
