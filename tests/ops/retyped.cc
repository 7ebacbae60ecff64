#include "retyped.h"

#include <utility>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/infer.h"
#include "lathe/graph/rewriter.h"

namespace lathe::ops_tests {

namespace {

using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;

// Indices stay i32, as operations require: nodes that compute them are cast back.
class Retyper {
 public:
  Retyper(DType from, DType to) : from_(from), to_(to) {}

  Result<Graph> run(const Graph& graph) {
    Graph result;
    result.name = graph.name;
    result.outputs = graph.outputs;
    result.updates = graph.updates;
    std::vector<Value> renamed;
    for (const Node& node : graph.nodes) {
      Node copy = node;
      for (Value& operand : copy.operands) operand = renamed[static_cast<size_t>(operand.id)];
      LATHE_ASSIGN_OR_RETURN(const Value value, add(result, std::move(copy)));
      renamed.push_back(value);
    }
    graph::rename_results(result, renamed);
    return result;
  }

 private:
  Result<Value> add(Graph& graph, Node node) {
    const bool is_named = node.kind == Kind::Input || node.kind == Kind::State ||
                          node.kind == Kind::Cast || node.kind == Kind::Constant;
    if (is_named && node.dtype == from_) {
      node.dtype = to_;
      if (node.kind == Kind::Constant) node.data = converted(node.data);
    }
    if (node.body) {
      LATHE_ASSIGN_OR_RETURN(Graph body, Retyper(from_, to_).run(*node.body));
      node.body = std::make_shared<const Graph>(std::move(body));
    }
    LATHE_ASSIGN_OR_RETURN(const graph::Type type, graph::infer(graph, node));
    const bool makes_indices = node.kind == Kind::Iota || node.kind == Kind::Sort;
    const bool is_product = node.kind == Kind::Contract && node.dtype == from_;
    node.dtype = type.dtype;
    const graph::Shape shape = node.shape;
    graph.nodes.push_back(std::move(node));
    const Value value{static_cast<int32_t>(graph.nodes.size()) - 1};
    const bool differs =
        type.dtype != to_ && ((makes_indices && from_ == DType::I32) || is_product);
    if (!differs) return value;
    graph.nodes.push_back({.kind = Kind::Cast, .dtype = to_, .shape = shape, .operands = {value}});
    return Value{value.id + 1};
  }

  std::vector<std::byte> converted(const SharedBytes& data) const {
    std::vector<std::byte> result;
    const int64_t count = static_cast<int64_t>(data.size()) / scalar::size_of(from_);
    for (int64_t i = 0; i < count; ++i) {
      const auto number = graph::load(from_, {data.begin(), data.end()}, i);
      const auto bytes = graph::bytes_of(scalar::cast(number, to_));
      result.insert(result.end(), bytes.begin(), bytes.end());
    }
    return result;
  }

  const DType from_, to_;
};

}  // namespace

Result<Graph> retyped(const Graph& graph, DType from, DType to) {
  return Retyper(from, to).run(graph);
}

bool is_of_other_types(std::string_view error, DType dtype) {
  const auto op = scalar::op_of(error.substr(0, error.find(':')));
  if (!op || accepts(scalar::info(*op).signature, dtype)) return false;
  switch (scalar::info(*op).signature) {
    case scalar::Signature::Quotient:
    case scalar::Signature::Function:
    case scalar::Signature::Test:
    case scalar::Signature::ToBits:
    case scalar::Signature::FromBits:
      return true;
    default:
      return false;
  }
}

}  // namespace lathe::ops_tests
