#include "lathe/import/onnx/order.h"

#include <map>
#include <set>
#include <string_view>

#include "lathe/base/text.h"
#include "lathe/import/onnx/problems.h"

namespace lathe::onnx {

namespace {

using Names = std::map<std::string_view, size_t>;  // index of the node that produces it

using Reads = std::map<const GraphProto*, std::vector<std::string_view>>;

void add_reads(const NodeProto& node, std::vector<std::string_view>& names, Reads& reads);

// Outer values that a graph reads, each name once.
const std::vector<std::string_view>& reads_of(const GraphProto& graph, Reads& reads) {
  if (const auto found = reads.find(&graph); found != reads.end()) return found->second;
  std::vector<std::string_view> read;
  std::set<std::string_view> inner;
  for (const NodeProto& each : graph.nodes) {
    add_reads(each, read, reads);
    inner.insert(each.outputs.begin(), each.outputs.end());
  }
  for (const ValueInfo& each : graph.outputs) read.push_back(each.name);
  for (const ValueInfo& each : graph.inputs) inner.insert(each.name);
  for (const TensorProto& each : graph.initializers) inner.insert(each.name);
  std::vector<std::string_view> names;
  for (const std::string_view name : read) {
    if (inner.insert(name).second) names.push_back(name);
  }
  return reads[&graph] = std::move(names);
}

void add_reads(const NodeProto& node, std::vector<std::string_view>& names, Reads& reads) {
  names.insert(names.end(), node.inputs.begin(), node.inputs.end());
  for (const AttributeProto& attribute : node.attributes) {
    for (const auto& graph : attribute.graphs) {
      const auto& read = reads_of(*graph, reads);
      names.insert(names.end(), read.begin(), read.end());
    }
  }
}

}  // namespace

std::vector<std::string_view> reads_of(const NodeProto& node) {
  std::vector<std::string_view> names;
  Reads reads;
  add_reads(node, names, reads);
  return names;
}

Result<std::span<const NodeProto* const>> NodeOrders::sorted(const std::vector<NodeProto>& nodes) {
  if (const auto found = orders_.find(&nodes); found != orders_.end()) return found->second;
  Names givers;
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (const std::string& name : nodes[k].outputs) {
      if (name.empty() || givers.emplace(name, k).second) continue;
      return fail(concat("two nodes produce '", clipped(name), '\''));
    }
  }
  enum class State : uint8_t { Unseen, Open, Done };
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
    std::vector<std::string_view> names;
    add_reads(nodes[k], names, reads_);
    for (const std::string_view name : names) {
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
        states[step.node] = State::Done;
        order.push_back(&nodes[step.node]);
        open.pop_back();
        continue;
      }
      const size_t next = step.before.back();
      step.before.pop_back();
      if (states[next] == State::Open) {
        return fail(concat("a cycle: what '", clipped(nodes[next].name), "' (",
                           clipped(nodes[next].op_type), ") reads depends on its output"));
      }
      if (states[next] == State::Unseen) begin(next);
    }
  }
  return orders_[&nodes] = std::move(order);
}

}  // namespace lathe::onnx
