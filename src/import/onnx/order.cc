#include "lathe/import/onnx/order.h"

#include <map>
#include <set>
#include <string_view>

#include "lathe/base/text.h"

namespace lathe::onnx {

namespace {

using Names = std::map<std::string_view, size_t>;  // which node gives them

void add_reads(const NodeProto& node, std::vector<std::string_view>& names);

// What a graph reads of what is around it.
void add_reads(const GraphProto& graph, std::vector<std::string_view>& names) {
  std::vector<std::string_view> read;
  std::set<std::string_view> own;
  for (const NodeProto& each : graph.nodes) {
    add_reads(each, read);
    own.insert(each.outputs.begin(), each.outputs.end());
  }
  for (const ValueInfo& each : graph.outputs) read.push_back(each.name);
  for (const ValueInfo& each : graph.inputs) own.insert(each.name);
  for (const TensorProto& each : graph.initializers) own.insert(each.name);
  for (const std::string_view name : read) {
    if (!own.contains(name)) names.push_back(name);
  }
}

void add_reads(const NodeProto& node, std::vector<std::string_view>& names) {
  names.insert(names.end(), node.inputs.begin(), node.inputs.end());
  for (const AttributeProto& attribute : node.attributes) {
    for (const auto& graph : attribute.graphs) add_reads(*graph, names);
  }
}

}  // namespace

std::vector<std::string_view> reads_of(const NodeProto& node) {
  std::vector<std::string_view> names;
  add_reads(node, names);
  return names;
}

Result<std::vector<const NodeProto*>> in_order(const std::vector<NodeProto>& nodes) {
  Names givers;
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (const std::string& name : nodes[k].outputs) {
      if (name.empty() || givers.emplace(name, k).second) continue;
      return fail(concat("two nodes give '", name, '\''));
    }
  }
  enum class State : uint8_t { Unseen, Open, Placed };
  std::vector<State> states(nodes.size(), State::Unseen);
  std::vector<const NodeProto*> order;
  struct Step {
    size_t node;
    std::vector<size_t> before;  // those that must come first
  };
  std::vector<Step> open;
  const auto begin = [&](size_t k) {
    states[k] = State::Open;
    Step step{k, {}};
    for (const std::string_view name : reads_of(nodes[k])) {
      const auto giver = givers.find(name);
      if (giver != givers.end() && giver->second != k) step.before.push_back(giver->second);
    }
    open.push_back(std::move(step));
  };
  for (size_t k = 0; k < nodes.size(); ++k) {
    if (states[k] == State::Unseen) begin(k);
    while (!open.empty()) {
      Step& step = open.back();
      if (step.before.empty()) {
        states[step.node] = State::Placed;
        order.push_back(&nodes[step.node]);
        open.pop_back();
        continue;
      }
      const size_t next = step.before.back();
      step.before.pop_back();
      if (states[next] == State::Open) {
        return fail(concat("a cycle: what '", nodes[next].name, "' (", nodes[next].op_type,
                           ") reads depends on what it gives"));
      }
      if (states[next] == State::Unseen) begin(next);
    }
  }
  return order;
}

}  // namespace lathe::onnx
