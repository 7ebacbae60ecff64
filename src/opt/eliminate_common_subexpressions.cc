// Value numbering: a table from the hash of a node to its first copies.
#include "lathe/opt/eliminate_common_subexpressions.h"

#include <map>

#include "lathe/base/table.h"

namespace lathe::opt {

using graph::Graph;
using graph::Node;
using graph::Output;
using graph::Update;
using graph::Value;

namespace {

class Hash {
 public:
  void add(uint64_t word) { state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u + (state_ >> 29); }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0;
};

// Equal nodes have equal hashes; long constants count with their first bytes only.
uint64_t hash(const Node& node) {
  Hash hash;
  hash.add(static_cast<uint64_t>(node.kind) << 16 | static_cast<uint64_t>(node.dtype) << 8 |
           static_cast<uint64_t>(node.op));
  for (int64_t size : node.shape) hash.add(static_cast<uint64_t>(size));
  for (Value operand : node.operands) hash.add(static_cast<uint64_t>(operand.id));
  for (int axis : node.axes) hash.add(static_cast<uint64_t>(axis));
  for (char c : node.name) hash.add(static_cast<uint64_t>(c));
  for (size_t i = 0; i < node.data.size() && i < 64; ++i) {
    hash.add(std::to_integer<uint64_t>(node.data[i]));
  }
  return hash.value();
}

}  // namespace

Graph eliminate_common_subexpressions(Graph graph) {
  std::multimap<uint64_t, int32_t> seen;
  Table<Value, Value> first(graph.nodes.size());
  for (int32_t id = 0; id < static_cast<int32_t>(graph.nodes.size()); ++id) {
    Node& node = graph.nodes[id];
    for (Value& operand : node.operands) operand = first[operand];
    first[id] = {id};
    const uint64_t key = hash(node);
    const auto [begin, end] = seen.equal_range(key);
    for (auto at = begin; at != end; ++at) {
      if (graph.nodes[at->second] == node) first[id] = {at->second};
    }
    if (first[id].id == id) seen.emplace(key, id);
  }
  for (Output& output : graph.outputs) output.value = first[output.value];
  for (Update& update : graph.updates) update.value = first[update.value];
  return graph;
}

}  // namespace lathe::opt
