// Weights of a model that training changes: inputs of what is written down.
#include <algorithm>
#include <ranges>

#include "lathe/base/text.h"
#include "lathe/import/onnx/tracer.h"

namespace lathe::onnx {

namespace {

// Whether training changes this operand of a node.
bool is_weight(const NodeProto& node, size_t operand) {
  struct Row {
    std::string_view op;
    size_t first, last;  // operands
  };
  static constexpr Row kRows[] = {
      {"Conv", 1, 2},
      {"ConvTranspose", 1, 2},
      {"Gemm", 0, 2},
      {"MatMul", 0, 1},
      {"BatchNormalization", 1, 2},
      {"LayerNormalization", 1, 2},
      {"InstanceNormalization", 1, 2},
      {"GroupNormalization", 1, 2},
      {"Gather", 0, 0},
      {"Add", 0, 1},
      {"Mul", 0, 1},
      {"PRelu", 1, 1},
  };
  return std::ranges::any_of(kRows, [&](const Row& row) {
    return row.op == node.op_type && row.first <= operand && operand <= row.last;
  });
}

}  // namespace

// Those that the results follow from.
std::set<const NodeProto*> Tracer::needed_nodes() const {
  std::set<std::string_view> names(wanted_.begin(), wanted_.end());
  if (names.empty()) {
    for (const ValueInfo& each : model_.graph.outputs) names.insert(each.name);
  }
  std::set<const NodeProto*> needed;
  for (size_t before = 1; before != needed.size();) {
    before = needed.size();
    for (const NodeProto& node : std::views::reverse(model_.graph.nodes)) {
      const auto is_read = [&](const std::string& name) { return names.contains(name); };
      if (needed.contains(&node) || std::ranges::none_of(node.outputs, is_read)) continue;
      needed.insert(&node);
      names.insert(node.inputs.begin(), node.inputs.end());
    }
  }
  return needed;
}

// Weights that training changes wherever they are read.
void Tracer::add_weights(Scope& scope) {
  const std::set<const NodeProto*> needed = needed_nodes();
  std::map<std::string_view, bool> trained;
  for (const NodeProto& node : model_.graph.nodes) {
    if (!needed.contains(&node)) continue;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const bool is_one = is_weight(node, k);
      const auto [found, is_new] = trained.emplace(node.inputs[k], is_one);
      if (!is_new) found->second = found->second && is_one;
    }
  }
  for (const TensorProto& each : model_.graph.initializers) {
    const auto found = trained.find(each.name);
    if (each.content.type != Type::Float32 || each.content.shape.empty() ||
        found == trained.end() || !found->second) {
      continue;
    }
    const std::string name = concat('w', trace_.weights.size());
    scope.names[each.name] = Value(graph_.input(name, DType::F32, each.content.shape));
    trace_.weights.push_back(&each);
  }
}

}  // namespace lathe::onnx
