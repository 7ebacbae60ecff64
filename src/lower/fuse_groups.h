// Divides a graph into groups, one kernel each: an anchor (contraction, reduction or map) with the
// maps that follow it element by element. Maps that feed a group without needing a separate
// buffer are computed inside it. Reductions over the same trailing axes, and the nodes between and
// after them, are one group that passes several times over each row.
#pragma once

#include <vector>

#include "lathe/base/table.h"
#include "lathe/graph/graph.h"

namespace lathe::lower {

struct Group {
  // In topological order; the anchor is the first. All have the anchor's shape, except in a group
  // that reduces: there they have either one element for each row or the shape of what is reduced.
  std::vector<graph::Value> members;
  graph::Shape shape;     // of the anchor, or of what it reduces
  std::vector<int> axes;  // reduced
  // Whether it is more than one reduction and what follows it row by row: such a group has passes.
  bool is_rows = false;

  graph::Value anchor() const { return members.front(); }
};

struct Fusion {
  std::vector<Group> groups;          // in order of execution
  Table<graph::Value, int> group_of;  // its group, or -1 (leaf, or computed where it is used)
  Table<graph::Value, bool> stored;   // has a buffer
  // Must not be computed twice, so it is in a register if not stored.
  Table<graph::Value, bool> expensive;
  // Is expensive, and its inlined expression would be too large for its users.
  Table<graph::Value, bool> oversized;
  // In groups with passes: what has the shape of a row is computed in this pass; values with one
  // element per row are computed before it.
  Table<graph::Value, int> pass;
  Table<graph::Value, int> last_pass;  // the latest pass that reads it
  Table<graph::Value, bool> scratch;   // is stored for a later pass only
  // The value whose buffer it overwrites, element by element, because nothing else reads that
  // afterwards: a value without later users, or the state that is updated; or invalid.
  Table<graph::Value, graph::Value> overwrites;

  bool is_inplace(const graph::Update& update) const {
    return overwrites[update.value] == update.state;
  }
};

// Whether the member of a group that reduces has one element for each row.
bool is_per_row(const graph::Graph& graph, const Group& group, graph::Value member);

// `lanes`: of the target's vectors, 1 if it has none. With vectors, contractions pack constant
// quantized weights before they multiply.
Fusion fuse_groups(const graph::Graph& graph, int64_t lanes = 1);

// Nodes whose value is in memory before the entry runs.
bool is_leaf(const graph::Node& node);
// Each element follows from those of the operands at the same index.
bool maps(graph::Kind kind);
// Each element follows from single elements of the operands.
bool is_pointwise(graph::Kind kind);
// The map stays inside the operand for every index of the node.
bool always_inside(const graph::Graph& graph, const graph::Node& reindex);
// The reshape only adds or removes axes of size 1.
bool only_squeezes(const graph::Graph& graph, const graph::Node& reshape);
// The value whose elements, in row-major order, are those of the reshape.
graph::Value reshaped_memory(const graph::Graph& graph, const graph::Node& reshape);
// The value itself, or the one that it is a reshape of.
graph::Value memory_of(const graph::Graph& graph, graph::Value value);
// Whether several iterations accumulate into one element or some elements are not visited, so that
// no other node can be fused after it.
bool scatters(const graph::Node& contract);

}  // namespace lathe::lower
