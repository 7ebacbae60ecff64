#include "lathe/lower/fuse_groups.h"

#include <algorithm>
#include <optional>

#include "lathe/base/check.h"
#include "lathe/base/table.h"
#include "lathe/lower/group_reads.h"
#include "lathe/lower/narrow_loads.h"
#include "lathe/lower/overwrites.h"

namespace lathe::lower {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;

namespace {

// Recomputing up to this many simple operations costs less than a trip through memory.
constexpr int kCheap = 4;
// Nodes of an expression above which its parts are stored in registers.
constexpr int kMaxNodes = 256;
// Levels of an expression above which a value goes through memory: walks over expressions recur.
constexpr int kMaxLevels = 512;
constexpr int kGuards = 3;  // what the tests of a view that leaves its operand cost, as operations
// A contraction's tile is unrolled for each of its registers, and what follows needs
// registers, too: an operation of a higher cost has a separate loop.
constexpr int kHeavyCost = 12;
// Fewer rows than these are not a loop worth dividing among threads, unless there is little in all.
constexpr int64_t kFewestRows = 8;
constexpr int64_t kLittle = 1 << 16;

// How a value's expression reads the latest group that it reads.
enum class Reach : uint8_t {
  Scattered,  // at other indices too
  PerRow,     // at the value's row, which is its entire index
  Same,       // at the value's index
};

int op_cost(const Node& node) {
  if (node.kind == Kind::Cast || node.kind == Kind::Gather) return 1;
  return node.kind == Kind::Map ? scalar::info(node.op).cost : 0;
}

class Fuser {
 public:
  Fuser(const Graph& graph, int64_t lanes)
      : graph_(graph),
        lanes_(lanes),
        consumers_(graph.nodes.size()),
        required_(graph.nodes.size()),
        updates_(graph.nodes.size()),
        inlined_(graph.nodes.size()),
        cost_(graph.nodes.size()),
        is_heavy_(graph.nodes.size()),
        last_group_(graph.nodes.size(), -1),
        reach_(graph.nodes.size()) {
    fusion_.group_of.assign(graph.nodes.size(), -1);
    fusion_.stored.assign(graph.nodes.size(), false);
    fusion_.expensive.assign(graph.nodes.size(), false);
    fusion_.oversized.assign(graph.nodes.size(), false);
    size_.assign(graph.nodes.size(), 0);
    levels_.assign(graph.nodes.size(), 0);
    is_deep_.assign(graph.nodes.size(), false);
    fusion_.pass.assign(graph.nodes.size(), 0);
    fusion_.last_pass.assign(graph.nodes.size(), 0);
    fusion_.scratch.assign(graph.nodes.size(), false);
  }

  Fusion run() {
    find_consumers();
    find_needs();
    for (size_t id = 0; id < graph_.nodes.size(); ++id)
      assign_group(Value{static_cast<int32_t>(id)});
    evict();
    mark_stored();
    choose_overwrites(graph_, fusion_);
    return std::move(fusion_);
  }

 private:
  const Node& node(Value value) const { return graph_[value]; }

  void find_consumers() {
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Value user{static_cast<int32_t>(id)};
      visit_operands(graph_.nodes[id], [&](Value operand) { consumers_[operand].push_back(user); });
    }
  }

  // The value whose memory a contraction reads: reshapes and broadcasts are seen through, other
  // views are copied because the contraction visits each element many times. Short numbers are
  // read as they are stored.
  Value base_memory(Value value) const {
    if (only_widens(graph_, value)) value = node(value).operands[0];
    while (node(value).kind == Kind::Reshape || broadcasts(node(value))) {
      value = node(value).operands[0];
    }
    return value;
  }

  void require_operand(const Node& contract, Value operand) {
    const bool rarely = is_read_rarely(graph_, contract, operand);
    const bool may_inline =
        rarely || (lanes_ > 1 && is_of_columns(graph_, contract, operand, lanes_));
    const auto numbers = may_inline ? find_narrow_source(graph_, operand) : std::nullopt;
    const auto constant =
        may_inline && !numbers ? find_constant_expression(graph_, operand) : std::nullopt;
    if (!(numbers && rarely) && !constant) {
      required_[base_memory(operand)] = true;
      return;
    }
    if (numbers) required_[numbers->numbers] = true;
    for (Value value : numbers ? numbers->values : constant->values) inlined_[value] = true;
  }

  bool broadcasts(const Node& n) const {
    return n.kind == Kind::Reindex && always_inside(graph_, n) &&
           graph::element_count(n.shape) > graph::element_count(node(n.operands[0]).shape);
  }

  void find_needs() {
    for (const auto& output : graph_.outputs) required_[output.value] = true;
    for (const auto& update : graph_.updates) {
      required_[update.value] = true;
      updates_[update.value] = true;
    }
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& n = graph_.nodes[id];
      if (n.kind == Kind::Contract) {
        for (Value operand : n.operands) require_operand(n, operand);
      }
      if (n.kind == Kind::Gather || n.kind == Kind::Sort) required_[n.operands[0]] = true;
      if (n.kind == Kind::Loop) {
        for (Value operand : n.operands) required_[memory_of(graph_, operand)] = true;
      }
      if (n.kind == Kind::Item) required_[id] = true;
      if (n.kind == Kind::Reshape && !only_squeezes(graph_, n)) {
        required_[reshaped_memory(graph_, n)] = true;
      }
    }
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& n = graph_.nodes[id];
      if (!is_pointwise(n.kind)) continue;
      int cost = op_cost(n);
      if (n.kind == Kind::Reindex && !always_inside(graph_, n)) cost += kGuards;
      const Value value{static_cast<int32_t>(id)};
      int size = 1, levels = 0;
      visit_operands(n, [&](Value operand) {
        cost += cost_[operand];
        size += size_[operand];
        levels = std::max(levels, levels_[operand]);
      });
      levels += 1 + op_cost(n);
      is_deep_[id] = levels > kMaxLevels;
      if (is_deep_[id]) required_[id] = true;
      levels_[id] = required_[id] ? 0 : levels;
      fusion_.oversized[id] = size > kMaxNodes && is_multiplied(value);
      fusion_.expensive[id] =
          fusion_.oversized[id] || (cost > kCheap && is_multiplied(value) && !inlined_[id]);
      cost_[id] = needs_buffer(value) ? 0 : cost;
      size_[id] = required_[id] || fusion_.oversized[id] ? 1 : std::min(size, 2 * kMaxNodes);
    }
  }

  bool needs_buffer(Value value) const { return required_[value] || fusion_.expensive[value]; }

  // Whether it would be computed more often than it has elements.
  bool is_multiplied(Value value) const {
    const auto& users = consumers_[value];
    if (users.size() > 1) return true;
    return users.size() == 1 && node(users[0]).kind == Kind::Reindex &&
           graph::element_count(node(users[0]).shape) > graph::element_count(node(value).shape);
  }

  void open_group(Value value) {
    const Node& n = node(value);
    const bool reduces = n.kind == Kind::Reduce;
    fusion_.groups.push_back({{},
                              reduces ? node(n.operands[0]).shape : n.shape,
                              reduces ? n.axes : std::vector<int>(),
                              false});
    join(value, static_cast<int>(fusion_.groups.size()) - 1, reduces ? Reach::PerRow : Reach::Same);
  }

  void join(Value value, int group, Reach reach) {
    fusion_.groups[group].members.push_back(value);
    fusion_.group_of[value] = group;
    last_group_[value] = group;
    reach_[value] = reach;
  }

  void assign_group(Value value) {
    const Node& n = node(value);
    if (is_leaf(n)) return;
    is_heavy_[value] =
        op_cost(n) >= kHeavyCost || std::ranges::any_of(n.operands, [&](Value operand) {
          return bool{is_heavy_[operand]} && fusion_.group_of[operand] < 0;
        });
    if (n.kind == Kind::Item) {
      return join(value, fusion_.group_of[n.operands[0]], Reach::Scattered);
    }
    int last = -1;
    for (Value operand : n.operands) last = std::max(last, last_group_[operand]);
    const Reach reach = last < 0 ? Reach::Same : reach_of(n, last);
    if (n.kind == Kind::Reduce) {
      if (last < 0 || !can_reduce(fusion_.groups[last], n, reach)) return open_group(value);
      Group& group = fusion_.groups[last];
      group.axes = n.axes;
      group.is_rows = true;
      return join(value, last, Reach::PerRow);
    }
    if (!is_pointwise(n.kind)) return open_group(value);
    if (last >= 0 && maps(n.kind) && !is_deep_[value] &&
        can_follow(fusion_.groups[last], value, reach)) {
      Group& group = fusion_.groups[last];
      group.is_rows = group.is_rows || (!group.axes.empty() && reach == Reach::Same);
      return join(value, last, reach);
    }
    if (needs_buffer(value)) return open_group(value);
    last_group_[value] = last;
    reach_[value] = reach;
  }

  Reach reach_of(const Node& n, int last) const {
    std::optional<Reach> reach;
    for (Value operand : n.operands) {
      if (last_group_[operand] != last) continue;
      if (reach && reach != reach_[operand]) return Reach::Scattered;
      reach = reach_[operand];
    }
    const bool per_row = reach == Reach::PerRow;
    switch (n.kind) {
      case Kind::Map:
      case Kind::Cast:
      case Kind::Reduce:
        return *reach;
      case Kind::Reindex:
        return per_row && spreads_rows(fusion_.groups[last], n) ? Reach::Same : Reach::Scattered;
      case Kind::Reshape:
        return per_row && only_squeezes(graph_, n) ? Reach::PerRow : Reach::Scattered;
      default:
        return Reach::Scattered;
    }
  }

  // Whether the reindex broadcasts one element along each row.
  bool spreads_rows(const Group& group, const Node& reindex) const {
    if (reindex.shape != group.shape || !always_inside(graph_, reindex)) return false;
    const Shape& from = node(reindex.operands[0]).shape;
    graph::Affine row{std::vector<int64_t>(group.shape.size()), 0};
    for (size_t axis = 0; axis < from.size(); ++axis) {
      const graph::Affine& index = reindex.map.axes[axis];
      row.offset = row.offset * from[axis] + index.offset;
      for (size_t d = 0; d < row.coefficients.size(); ++d) {
        row.coefficients[d] = row.coefficients[d] * from[axis] + index.coefficients[d];
      }
    }
    int64_t stride = 1;
    for (size_t d = group.shape.size(); d-- > 0;) {
      const bool reduced = std::ranges::find(group.axes, static_cast<int>(d)) != group.axes.end();
      const int64_t expected = reduced ? 0 : stride;
      if (group.shape[d] != 1 && row.coefficients[d] != expected) return false;
      if (!reduced) stride *= group.shape[d];
    }
    return row.offset == 0;
  }

  // Whether rows along these axes are contiguous and worth a loop.
  static bool makes_rows(const Shape& shape, const std::vector<int>& axes) {
    const size_t spatial = shape.size() - axes.size();
    if (axes.empty() || static_cast<size_t>(axes.front()) != spatial) return false;
    int64_t rows = 1, length = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      (axis < spatial ? rows : length) *= shape[axis];
    return length > 1 && (rows >= kFewestRows || rows * length <= kLittle);
  }

  bool can_reduce(const Group& group, const Node& reduce, Reach reach) const {
    const Kind kind = node(group.anchor()).kind;
    if ((kind != Kind::Reduce && !is_pointwise(kind)) || reach != Reach::Same) return false;
    if (node(reduce.operands[0]).shape != group.shape) return false;
    if (group.axes.empty() &&
        std::ranges::any_of(group.members, [&](Value m) { return bool{updates_[m]}; })) {
      return false;
    }
    return makes_rows(group.shape, reduce.axes) &&
           (group.axes.empty() || group.axes == reduce.axes);
  }

  bool can_follow(const Group& group, Value value, Reach reach) const {
    const Node& n = node(value);
    const Node& anchor = node(group.anchor());
    if (reach == Reach::Scattered) return false;
    if (group.axes.empty()) {
      if (anchor.shape != n.shape) return false;
      if (anchor.kind == Kind::Join || anchor.kind == Kind::Scatter || anchor.kind == Kind::Sort) {
        return false;
      }
      return anchor.kind != Kind::Contract || (!scatters(anchor) && !is_heavy_[value]);
    }
    const bool rows = makes_rows(group.shape, group.axes);
    if (reach == Reach::Same) return rows && group.shape == n.shape && !updates_[value];
    return rows || anchor.shape == n.shape;
  }

  // A member that only other groups use is computed there instead, if what it reads here is stored
  // anyway.
  void evict() {
    for (Group& group : fusion_.groups) {
      for (size_t i = group.members.size(); i-- > 1;) {
        const Value member = group.members[i];
        if (node(member).kind == Kind::Reduce || needs_buffer(member)) continue;
        if (used_inside(member, fusion_.group_of[member]) || !reads_stored(member)) continue;
        fusion_.group_of[member] = -1;
        group.members.erase(group.members.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  bool reads_stored(Value member) const {
    const int group = fusion_.group_of[member];
    return std::ranges::all_of(node(member).operands, [&](Value operand) {
      if (fusion_.group_of[operand] != group || needs_buffer(operand)) return true;
      return std::ranges::any_of(consumers_[operand], [&](Value user) {
        return user != member && fusion_.group_of[user] != group;
      });
    });
  }

  // Through values that are computed where they are used.
  bool used_inside(Value value, int group) const {
    return std::ranges::any_of(consumers_[value], [&](Value user) {
      const int owner = fusion_.group_of[user];
      return owner == group || (owner < 0 && used_inside(user, group));
    });
  }

  void mark_stored() {
    for (size_t g = 0; g < fusion_.groups.size(); ++g) {
      for (Value member : fusion_.groups[g].members) {
        if (required_[member]) fusion_.stored[member] = true;
      }
      visit_group_reads(graph_, fusion_, static_cast<int>(g), [&](Value read, bool) {
        if (!is_leaf(node(read))) fusion_.stored[read] = true;
      });
    }
    for (size_t g = 0; g < fusion_.groups.size(); ++g) {
      const Group& group = fusion_.groups[g];
      const bool reduces = !group.axes.empty() || node(group.anchor()).kind == Kind::Reduce;
      if (reduces) find_passes(static_cast<int>(g));
    }
  }

  // Expensive values that a later pass reads are stored.
  void find_passes(int g) {
    const Group& group = fusion_.groups[g];
    const auto& [first, last] = std::minmax_element(group.members.begin(), group.members.end());
    const auto concerns = [&](Value value) {
      const int owner = fusion_.group_of[value];
      return owner == g || (owner < 0 && last_group_[value] == g);
    };
    for (Value value = *first; value <= *last; ++value.id) {
      if (!concerns(value)) continue;
      const Node& n = node(value);
      int& pass = fusion_.pass[value];
      visit_operands(n, [&](Value operand) {
        if (concerns(operand)) pass = std::max(pass, fusion_.pass[operand]);
      });
      if (n.kind == Kind::Reduce) ++pass;
    }
    for (Value value = *last; value >= *first; --value.id) {
      if (!concerns(value)) continue;
      int& last_pass = fusion_.last_pass[value];
      for (Value user : consumers_[value]) {
        if (!concerns(user)) continue;
        const int pass = fusion_.pass[user];
        const bool reduces = node(user).kind == Kind::Reduce;
        last_pass = std::max(last_pass, reduces                ? pass - 1
                                        : fusion_.stored[user] ? pass
                                                               : fusion_.last_pass[user]);
      }
      const bool in_later_pass = last_pass > fusion_.pass[value];
      if (fusion_.group_of[value] == g && fusion_.expensive[value] && in_later_pass &&
          !is_per_row(graph_, group, value)) {
        if (!fusion_.stored[value]) fusion_.scratch[value] = true;
        fusion_.stored[value] = true;
      }
    }
  }

  const Graph& graph_;
  const int64_t lanes_;
  Fusion fusion_;
  Table<Value, std::vector<Value>> consumers_;
  Table<Value, bool> required_;   // must be in memory, because some user reads it from there
  Table<Value, bool> updates_;    // is the new value of a state
  Table<Value, bool> inlined_;    // is computed inline by a contraction, which reads its source
  Table<Value, int> cost_;        // of recomputing the node where it is used
  Table<Value, int> size_;        // nodes of its inlined expression
  Table<Value, int> levels_;      // of that expression
  Table<Value, bool> is_deep_;    // has so many levels that it begins a group
  Table<Value, bool> is_heavy_;   // its inlined expression has an operation too expensive to fuse
                                  // into a contraction
  Table<Value, int> last_group_;  // the latest group that the node's expression reads
  Table<Value, Reach> reach_;     // how it does so
};

}  // namespace

bool is_per_row(const Graph& graph, const Group& group, Value member) {
  return graph[member].kind == Kind::Reduce || graph[member].shape != group.shape;
}

Fusion fuse_groups(const Graph& graph, int64_t lanes) { return Fuser(graph, lanes).run(); }

bool is_leaf(const Node& node) {
  return node.kind == Kind::Input || node.kind == Kind::State || node.kind == Kind::Constant;
}

bool maps(Kind kind) { return kind == Kind::Map || kind == Kind::Cast; }

bool is_pointwise(Kind kind) {
  return maps(kind) || kind == Kind::Reindex || kind == Kind::Reshape || kind == Kind::Iota ||
         kind == Kind::Gather;
}

bool always_inside(const Graph& graph, const Node& reindex) {
  return graph::always_inside(reindex.map, reindex.shape, graph[reindex.operands[0]].shape);
}

bool only_squeezes(const Graph& graph, const Node& reshape) {
  const auto without_ones = [](Shape shape) {
    std::erase(shape, 1);
    return shape;
  };
  return without_ones(reshape.shape) == without_ones(graph[reshape.operands[0]].shape);
}

Value reshaped_memory(const Graph& graph, const Node& reshape) {
  return memory_of(graph, reshape.operands[0]);
}

Value memory_of(const Graph& graph, Value value) {
  while (graph[value].kind == Kind::Reshape) value = graph[value].operands[0];
  return value;
}

bool scatters(const Node& contract) {
  const graph::AffineMap& out = contract.contraction.out;
  if (!out.is_projection()) return true;
  for (size_t axis = 0; axis < out.axes.size(); ++axis) {
    const auto d = static_cast<size_t>(out.axes[axis].single_dimension());
    if (contract.contraction.extents[d] != contract.shape[axis]) return true;
  }
  return false;
}

}  // namespace lathe::lower
