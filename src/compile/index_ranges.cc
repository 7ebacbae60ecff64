#include "lathe/compile/index_ranges.h"

#include <algorithm>
#include <optional>

namespace lathe::compile {

namespace {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Value;
using scalar::Op;

// The number that fills a tensor.
std::optional<int64_t> integer_in(const Graph& graph, Value value) {
  const Node* node = &graph[value];
  while (node->kind == Kind::Reindex || node->kind == Kind::Reshape || node->kind == Kind::Cast) {
    node = &graph[node->operands[0]];
  }
  if (!graph::is_splat(*node) || !scalar::is_integer(node->dtype)) return std::nullopt;
  return graph::splat_value(*node).i;
}

// c of select(x < 0, x + c, x).
std::optional<int64_t> wrap_negative_indices(const Graph& graph, const Node& node) {
  if (node.kind != Kind::Map || node.op != Op::Select) return std::nullopt;
  const Node &test = graph[node.operands[0]], &sum = graph[node.operands[1]];
  const Value x = node.operands[2];
  const bool fits = test.kind == Kind::Map && test.op == Op::Lt && test.operands[0] == x &&
                    integer_in(graph, test.operands[1]) == 0 && sum.kind == Kind::Map &&
                    sum.op == Op::Add && sum.operands[0] == x;
  return fits ? integer_in(graph, sum.operands[1]) : std::nullopt;
}

// Whether each element of the operand is somewhere in the result.
bool reads_all(const Node& node, const graph::Shape& from) {
  std::vector<int> seen;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == 1) continue;
    const int d = node.map.axes[axis].single_dimension();
    const bool is_new = std::ranges::find(seen, d) == seen.end();
    if (d < 0 || !is_new || node.shape[static_cast<size_t>(d)] != from[axis]) return false;
    seen.push_back(d);
  }
  return true;
}

// The index along the last axis whose elements are read, all of them in order.
std::optional<int64_t> column_read(const Node& node, const graph::Shape& from) {
  if (from.empty() || node.shape.size() != from.size() || node.shape.back() != 1) {
    return std::nullopt;
  }
  for (size_t axis = 0; axis + 1 < from.size(); ++axis) {
    if (node.map.axes[axis].single_dimension() != static_cast<int>(axis) && from[axis] != 1) {
      return std::nullopt;
    }
    if (node.shape[axis] != from[axis]) return std::nullopt;
  }
  const int64_t column = node.map.axes.back().offset;
  return column >= 0 && column < from.back() ? std::optional(column) : std::nullopt;
}

class Finder {
 public:
  Finder(const Graph& graph, std::vector<IndexRange>& ranges) : graph_(graph), ranges_(ranges) {}

  void follow(Value value, IndexRange range) {
    for (;;) {
      const Node& node = graph_[value];
      if (const auto size = wrap_negative_indices(graph_, node)) {
        range.low -= *size;
        value = node.operands[2];
      } else if (node.kind == Kind::Reshape ||
                 (node.kind == Kind::Cast && scalar::size_of(node.dtype) >= 4) || is_batch(node)) {
        value = node.operands[0];
      } else if (node.kind != Kind::Reindex || range.step != 1) {
        if (node.kind == Kind::Input) add(node, range);
        return;
      } else {
        value = node.operands[0];
        const graph::Shape& from = graph_[value].shape;
        if (reads_all(node, from)) continue;
        const auto column = column_read(node, from);
        if (!column) return;
        range.first = *column;
        range.step = from.back();
      }
    }
  }

 private:
  // Rows of an input of several batches: the caller selects which (nn/training/training.cc).
  bool is_batch(const Node& node) const {
    if (node.kind != Kind::Gather || graph_[node.operands[0]].kind != Kind::Input) return false;
    const Node* order = &graph_[node.operands[1]];
    while (order->kind == Kind::Reindex || order->kind == Kind::Reshape) {
      order = &graph_[order->operands[0]];
    }
    return order->kind == Kind::Input && order->name == "order";
  }

  void add(const Node& input, IndexRange range) {
    range.input = input.name;
    if (std::ranges::find(ranges_, range) == ranges_.end()) ranges_.push_back(std::move(range));
  }

  const Graph& graph_;
  std::vector<IndexRange>& ranges_;
};

}  // namespace

std::vector<IndexRange> index_ranges(const graph::Program& program) {
  std::vector<IndexRange> ranges;
  for (const Graph& entry : program.entries) {
    for (const Node& node : entry.nodes) {
      if (node.kind != Kind::Gather) continue;
      const auto axis = static_cast<size_t>(node.axes[0]);
      const int64_t size = entry[node.operands[0]].shape[axis];
      Finder(entry, ranges).follow(node.operands[1], {entry.name, "", 0, size - 1});
    }
  }
  return ranges;
}

}  // namespace lathe::compile
