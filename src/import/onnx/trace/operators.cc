#include "lathe/import/onnx/trace/operators.h"

#include <map>

#include "lathe/base/text.h"
#include "lathe/import/onnx/problems.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

std::span<const Operator> operators() {
  using graph::Op;
  static constexpr Operator kOperators[] = {
#define ONNX_MAP(name, since, types, op) \
  {"", name, since, kLatest, types, "", nullptr, Op::op, true},
#define ONNX_OPERATOR(domain, name, since, last, types, moved, function) \
  {domain, name, since, last, types, moved, rows::function, Op::Add, false},
#define ONNX_PADDED(domain, name, since, last, types, moved, function) \
  {domain, name, since, last, types, moved, rows::function, Op::Add, true},
#include "lathe/import/onnx/trace/operators.def"
  };
  return kOperators;
}

const Operator* find_operator(std::string_view domain, std::string_view name, int version) {
  for (const Operator& each : operators()) {
    if (each.domain == domain && each.name == name && each.since <= version &&
        version <= each.last) {
      return &each;
    }
  }
  return nullptr;
}

namespace {

// The newest supported operator sets.
constexpr int64_t kNewest = 28, kNewestOfMl = 5;

Status check_sets(const OperatorSets& sets) {
  for (const auto& [domain, version] : sets) {
    const int64_t newest = domain.empty()           ? kNewest
                           : domain == "ai.onnx.ml" ? kNewestOfMl
                                                    : version;
    if (version <= newest) continue;
    return fail(concat("the model is of operator set ", version, " of ",
                       domain.empty() ? "ai.onnx" : clipped(domain), "; up to ", newest,
                       " is supported. Export it for an earlier one"));
  }
  return {};
}

// Names of nodes that an error lists for each operator.
constexpr size_t kMaxNames = 3;

class Checker {
 public:
  explicit Checker(const ModelProto& model) : functions_(model) {}

  void check(const std::vector<NodeProto>& nodes, const OperatorSets& sets) {
    for (const NodeProto& each : nodes) {
      check(each, sets);
      for (const AttributeProto& attribute : each.attributes) {
        for (const auto& graph : attribute.graphs) check(graph->nodes, sets);
      }
    }
  }

  std::vector<MissingOperator> done() && {
    std::vector<MissingOperator> all;
    for (auto& [name, nodes] : missing_) all.push_back({name, std::move(nodes)});
    return all;
  }

 private:
  void check(const NodeProto& node, const OperatorSets& sets) {
    if (functions_.find(node) != nullptr) return;
    const std::string_view domain = node.domain == "ai.onnx" ? std::string_view{} : node.domain;
    const auto set = sets.find(domain);
    const int version = set == sets.end() ? 1 : static_cast<int>(set->second);
    if (find_operator(domain, node.op_type, version) != nullptr) return;
    missing_[concat(clipped(domain), domain.empty() ? "" : ".", clipped(node.op_type),
                    " of version ", version)]
        .push_back(!node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0]);
  }

  Functions functions_;
  std::map<std::string, std::vector<std::string>> missing_;  // names of nodes by operator
};

}  // namespace

std::vector<MissingOperator> missing_operators(const ModelProto& model) {
  Checker checker(model);
  checker.check(model.graph.nodes, model.sets);
  for (const FunctionProto& each : model.functions) checker.check(each.nodes, each.sets);
  return std::move(checker).done();
}

Status check_operators(const ModelProto& model) {
  LATHE_TRY(check_sets(model.sets));
  for (const FunctionProto& each : model.functions) LATHE_TRY(check_sets(each.sets));
  std::vector<std::string> missing;
  for (const auto& [name, nodes] : missing_operators(model)) {
    std::string some;
    for (size_t k = 0; k < nodes.size() && k < kMaxNames; ++k) {
      if (!nodes[k].empty()) append(some, some.empty() ? "" : ", ", '\'', nodes[k], '\'');
    }
    if (nodes.size() > 1) append(some, some.empty() ? "" : ", … ", nodes.size(), " nodes");
    missing.push_back(some.empty() ? name : concat(name, " (", some, ')'));
  }
  std::string all;
  if (!missing.empty()) {
    append(all, "the model needs operators that are not there: ", listed(missing),
           ". Export it for another operator set, or without them");
  }
  if (!model.unknown_types.empty()) {
    append(all, all.empty() ? "" : ". ",
           "Element types are not there: ", listed(model.unknown_types),
           ". Export it with another type, or cast them");
  }
  if (all.empty()) return {};
  return fail(std::move(all));
}

}  // namespace lathe::onnx
