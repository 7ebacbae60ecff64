// Divides a graph into groups, one kernel each: an anchor (contraction, reduction or map) with the
// maps that follow it element by element. Maps that feed a group without needing a buffer of their
// own are computed inside it.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace lathe::lower {

struct Group {
  // In topological order; the anchor is the first. All have the anchor's shape.
  std::vector<graph::Value> members;
  graph::Value anchor() const { return members.front(); }
};

struct Fusion {
  std::vector<Group> groups;   // in order of execution
  std::vector<int> group_of;   // by node: its group, or -1 (leaf, or computed where it is used)
  std::vector<bool> stored;    // by node: has a buffer of its own
  std::vector<bool> in_place;  // by update: the group writes straight into the state's buffer
};

Fusion fuse_groups(const graph::Graph& graph);

// Nodes whose value is in memory before the entry runs.
bool is_leaf(const graph::Node& node);
// The map stays inside the operand for every index of the node.
bool always_inside(const graph::Graph& graph, const graph::Node& reindex);
// The reshape only adds or removes axes of size 1.
bool only_squeezes(const graph::Graph& graph, const graph::Node& reshape);
// The value whose elements, in row-major order, are those of the reshape.
graph::Value reshaped_memory(const graph::Graph& graph, const graph::Node& reshape);
// Accumulates into places that several iterations share or leaves some unvisited, so nothing can
// follow it in one kernel.
bool scatters(const graph::Node& contract);

}  // namespace lathe::lower
