#include "lathe/lower/short_reads.h"

#include <vector>

namespace lathe::lower {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;
using scalar::DType;

namespace {

constexpr int64_t kFewReads = 4;
constexpr size_t kMostSpelled = 16;  // operations

}  // namespace

bool lengthens(const Graph& graph, Value value) {
  const Node& n = graph[value];
  if (n.kind != Kind::Cast || !scalar::is_integer(n.dtype)) return false;
  const DType from = graph[n.operands[0]].dtype;
  return scalar::is_integer(from) && scalar::is_computed(n.dtype) && !scalar::is_computed(from);
}

std::optional<SpelledHalf> spelled_half(const Graph& graph, Value value) {
  if (graph[value].dtype != DType::F32 || graph[value].kind != Kind::Map) return std::nullopt;
  SpelledHalf half{{}, {value}};
  for (std::vector<Value> rest = {value}; !rest.empty();) {
    const Node& n = graph[rest.back()];
    rest.pop_back();
    if (n.kind != Kind::Map && n.kind != Kind::Cast) return std::nullopt;
    for (Value operand : n.operands) {
      if (graph::is_splat(graph[operand])) continue;
      if (graph[operand].dtype != DType::U16) {
        if (half.values.insert(operand).second) rest.push_back(operand);
      } else if (!half.bits.valid() || half.bits == operand) {
        half.bits = operand;
      } else {
        return std::nullopt;
      }
    }
    if (half.values.size() > kMostSpelled) return std::nullopt;
  }
  return half.bits.valid() ? std::optional(half) : std::nullopt;
}

bool is_read_rarely(const Graph& graph, const Node& contract, Value operand) {
  return graph::element_count(contract.contraction.extents) <=
         kFewReads * graph::element_count(graph[operand].shape);
}

}  // namespace lathe::lower
