#include "lathe/models/onnx/summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/models/cost.h"
#include "lathe/models/onnx/module.h"

namespace lathe::onnx {
namespace {

class Counter {
 public:
  explicit Counter(const ModelProto& model) : model_(model) {}

  Summary run() {
    count(model_.graph, model_.sets);
    for (const FunctionProto& each : model_.functions) count(each.nodes, each.sets);
    Summary summary;
    summary.missing = missing_operators(model_);
    for (auto& [key, operators] : operators_) summary.operators.push_back(std::move(operators));
    for (auto& [type, parameters] : parameters_) summary.parameters.push_back(parameters);
    return summary;
  }

 private:
  void count(const GraphProto& graph, const OperatorSets& sets) {
    for (const TensorProto& each : graph.initializers) count(each);
    count(graph.nodes, sets);
  }

  void count(const std::vector<NodeProto>& nodes, const OperatorSets& sets) {
    for (const NodeProto& node : nodes) {
      count(node, sets);
      for (const AttributeProto& attribute : node.attributes) {
        if (node.op_type == "Constant") {
          for (const TensorProto& each : attribute.tensors) count(each);
        }
        for (const auto& graph : attribute.graphs) count(*graph, sets);
      }
    }
  }

  void count(const NodeProto& node, const OperatorSets& sets) {
    const std::string domain = node.domain == "ai.onnx" ? std::string() : node.domain;
    const auto set = sets.find(domain);
    const int64_t version = set == sets.end() ? 1 : set->second;
    const std::string name = concat(domain, domain.empty() ? "" : ".", node.op_type);
    OperatorCount& count = operators_[{name, version}];
    count.name = name;
    count.version = version;
    ++count.nodes;
    count.is_function = std::ranges::any_of(model_.functions, [&](const FunctionProto& each) {
      return each.name == node.op_type && each.domain == node.domain;
    });
    const int number = static_cast<int>(std::min<int64_t>(version, kLatest));
    count.is_missing = !count.is_function && find_operator(domain, node.op_type, number) == nullptr;
  }

  void count(const TensorProto& tensor) {
    const Content& content = tensor.content;
    ParameterCount& count = parameters_[content.type];
    count.type = content.type;
    ++count.tensors;
    count.elements += content.count();
    count.bytes += (content.count() * bits_of(content.type) + 7) / 8;
    for (const std::string& each : content.strings) {
      count.bytes += static_cast<int64_t>(each.size());
    }
  }

  const ModelProto& model_;
  std::map<std::pair<std::string, int64_t>, OperatorCount> operators_;
  std::map<Type, ParameterCount> parameters_;
};

}  // namespace

Summary summary_of(const ModelProto& model) { return Counter(model).run(); }

Result<Cost> cost_of(const ModelProto& model, std::span<const Port> inputs) {
  Cost cost;
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, graph_of(model, inputs));
  cost.multiply_adds = models::multiply_adds(graph);
  for (const graph::Output& each : graph.outputs) {
    const graph::Node& node = graph[each.value];
    TypeProto type{.kind = TypeProto::Kind::Tensor, .type = type_of(node.dtype), .has_shape = true};
    for (const int64_t size : node.shape) type.shape.push_back({.value = size});
    cost.outputs.push_back({each.name, std::move(type)});
  }
  graph::Program program;
  program.entries.push_back(std::move(graph));
  LATHE_ASSIGN_OR_RETURN(const auto executable, compile::compile(std::move(program), {}));
  for (const wasm::Data& each : executable.wasm().data) cost.constant_bytes += each.bytes.size();
  cost.temporary_bytes = executable.temporary_bytes;
  cost.memory_bytes = executable.memory_bytes;
  cost.module_bytes = executable.module().size();
  return cost;
}

}  // namespace lathe::onnx
