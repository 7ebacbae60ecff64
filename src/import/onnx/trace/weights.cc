// Initializers that become inputs of the graph.
#include <algorithm>
#include <ranges>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/tracer.h"

namespace lathe::onnx {

namespace {

// Operands that are trainable, and those whose kernels are as fast when they are no constants:
// other constants are packed at compile time, for each graph separately.
struct Row {
  std::string_view op;
  size_t first, last;  // operands
  bool is_trained = true, is_shared = true;
};
constexpr Row kRows[] = {
    {"Conv", 1, 2, true, false},
    {"ConvTranspose", 1, 2, true, false},
    {"Gemm", 0, 2},
    {"MatMul", 0, 1},
    {"MatMulInteger", 0, 1, false, true},
    {"BatchNormalization", 1, 2},
    {"LayerNormalization", 1, 2},
    {"InstanceNormalization", 1, 2},
    {"GroupNormalization", 1, 2},
    {"Gather", 0, 0},
    {"Add", 0, 1},
    {"Mul", 0, 1},
    {"PRelu", 1, 1},
};

bool is_weight(const NodeProto& node, size_t operand, WeightInputs which) {
  return std::ranges::any_of(kRows, [&](const Row& row) {
    return row.op == node.op_type && row.first <= operand && operand <= row.last &&
           (which == WeightInputs::Large ? row.is_shared : row.is_trained);
  });
}

}  // namespace

// Nodes that the results depend on.
std::set<const NodeProto*> Tracer::needed_nodes() const {
  std::set<std::string_view> names(requested_.begin(), requested_.end());
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

// Makes those initializers inputs that are such operands at all their uses.
void Tracer::add_weights(Scope& scope) {
  constexpr size_t kLarge = size_t{1} << 14;
  const std::set<const NodeProto*> needed = needed_nodes();
  std::map<std::string_view, bool> are_weights;
  for (const NodeProto& node : model_.graph.nodes) {
    if (!needed.contains(&node)) continue;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const bool is_one = is_weight(node, k, weights_);
      const auto [found, is_new] = are_weights.emplace(node.inputs[k], is_one);
      if (!is_new) found->second = found->second && is_one;
    }
  }
  for (const TensorProto& each : model_.graph.initializers) {
    const Content& content = each.content;
    const auto found = are_weights.find(each.name);
    if (found == are_weights.end() || !found->second || content.shape.empty()) continue;
    const bool is_input = weights_ == WeightInputs::Large
                              ? content.type != Type::String && content.data.size() >= kLarge
                              : content.type == Type::Float32;
    if (!is_input) continue;
    const std::string name = concat('w', trace_.weights.size());
    scope.names[each.name] =
        Value(graph_.input(name, dtype_of(content.type), content.shape), content.type);
    trace_.weights.push_back(&each);
  }
}

}  // namespace lathe::onnx
