// Marks from the results backwards, then closes the gaps.
#include "lathe/opt/eliminate_dead_code.h"

#include "lathe/base/table.h"
#include "lathe/graph/rewriter.h"

namespace lathe::opt {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Output;
using graph::Update;
using graph::Value;

Graph eliminate_dead_code(Graph graph) {
  Table<Value, bool> live(graph.nodes.size());
  for (const Output& output : graph.outputs) live[output.value] = true;
  for (const Update& update : graph.updates) live[update.value] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const Kind kind = graph.nodes[id].kind;
    if (kind == Kind::Input || kind == Kind::State) live[id] = true;
    if (!live[id]) continue;
    for (Value operand : graph.nodes[id].operands) live[operand] = true;
  }

  Table<Value, Value> moved(graph.nodes.size());
  std::vector<Node> remaining;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!live[id]) continue;
    moved[id] = {static_cast<int32_t>(remaining.size())};
    Node& node = remaining.emplace_back(std::move(graph.nodes[id]));
    for (Value& operand : node.operands) operand = moved[operand];
  }
  graph.nodes = std::move(remaining);
  rename_results(graph, moved);
  return graph;
}

}  // namespace lathe::opt
