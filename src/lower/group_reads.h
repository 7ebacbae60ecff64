// What groups read from buffers, through what is computed where it is used.
#pragma once

#include <algorithm>
#include <cstddef>

#include "lathe/graph/graph.h"
#include "lathe/lower/fuse_groups.h"

namespace lathe::lower {

// Calls visit(operand) for each operand once: what squares a value must not look at it twice.
template <class Visit>
void visit_operands(const graph::Node& node, const Visit& visit) {
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const auto here = node.operands.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(node.operands.begin(), here, *here) == here) visit(*here);
  }
}

// Calls visit(value, elementwise) for every value in a buffer or leaf that the expression of
// `value`, a member of `group`, reads.
template <class Visit>
void visit_reads(const graph::Graph& graph, const Fusion& fusion, graph::Value value,
                 bool elementwise, int group, const Visit& visit) {
  visit_operands(graph[value], [&](graph::Value operand) {
    const graph::Node& n = graph[operand];
    const int owner = fusion.group_of[operand];
    if (is_leaf(n) || (owner >= 0 && owner != group)) {
      visit(operand, elementwise && graph[value].shape == n.shape);
    } else if (owner < 0) {
      visit_reads(graph, fusion, operand, elementwise && maps(n.kind), group, visit);
    }
  });
}

// Calls visit(value, elementwise) for every value in a buffer or leaf that the group reads.
template <class Visit>
void visit_group_reads(const graph::Graph& graph, const Fusion& fusion, int group,
                       const Visit& visit) {
  const Group& read_by = fusion.groups[group];
  for (graph::Value member : read_by.members) {
    const bool elementwise = maps(graph[member].kind) && !read_by.is_rows;
    visit_reads(graph, fusion, member, elementwise, group, visit);
  }
}

}  // namespace lathe::lower
