#include "lower/fuse_groups.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace lathe::lower {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;

namespace {

// Recomputing up to this many simple operations costs less than a trip through memory.
constexpr int kCheap = 4;
// A contraction's tile is written out for every register it holds; above this a loop of its own is
// smaller and as fast.
constexpr int kBulky = 12;

bool is_pointwise(Kind kind) {
  return kind == Kind::Map || kind == Kind::Cast || kind == Kind::Reindex ||
         kind == Kind::Reshape || kind == Kind::Iota;
}

int own_cost(const Node& node) {
  using scalar::Op;
  if (node.kind == Kind::Cast) return 1;
  if (node.kind != Kind::Map) return 0;
  if (node.op == Op::Div || node.op == Op::Sqrt) return 5;
  const bool is_polynomial =
      node.op == Op::Exp || node.op == Op::Log || node.op == Op::Tanh || node.op == Op::Sigmoid;
  return is_polynomial ? 12 : 1;
}

// Each operand once: what squares a value must not look at it twice.
template <class Visit>
void visit_operands(const Node& node, const Visit& visit) {
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const auto here = node.operands.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(node.operands.begin(), here, *here) == here) visit(*here);
  }
}

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph),
        consumers_(graph.nodes.size()),
        needs_buffer_(graph.nodes.size()),
        cost_(graph.nodes.size()),
        last_group_(graph.nodes.size(), -1),
        elementwise_(graph.nodes.size()) {
    fusion_.group_of.assign(graph.nodes.size(), -1);
    fusion_.stored.assign(graph.nodes.size(), false);
    fusion_.in_place.assign(graph.updates.size(), false);
  }

  Fusion run() {
    find_consumers();
    find_needs();
    for (size_t id = 0; id < graph_.nodes.size(); ++id) place(Value{static_cast<int32_t>(id)});
    evict();
    mark_stored();
    update_in_place();
    return std::move(fusion_);
  }

 private:
  const Node& node(Value value) const { return graph_[value]; }

  void find_consumers() {
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Value user{static_cast<int32_t>(id)};
      visit_operands(graph_.nodes[id],
                     [&](Value operand) { consumers_[operand.id].push_back(user); });
    }
  }

  // The value whose memory a contraction reads: reshapes and broadcasts are seen through, other
  // views are copied because the contraction visits each element many times.
  Value memory_behind(Value value) const {
    while (node(value).kind == Kind::Reshape || broadcasts(node(value))) {
      value = node(value).operands[0];
    }
    return value;
  }

  bool broadcasts(const Node& n) const {
    return n.kind == Kind::Reindex && always_inside(graph_, n) &&
           graph::element_count(n.shape) > graph::element_count(node(n.operands[0]).shape);
  }

  void find_needs() {
    for (const auto& output : graph_.outputs) needs_buffer_[output.value.id] = true;
    for (const auto& update : graph_.updates) needs_buffer_[update.value.id] = true;
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& n = graph_.nodes[id];
      if (n.kind == Kind::Contract) {
        for (Value operand : n.operands) needs_buffer_[memory_behind(operand).id] = true;
      }
      if (n.kind == Kind::Reshape && !only_squeezes(graph_, n)) {
        needs_buffer_[reshaped_memory(graph_, n).id] = true;
      }
    }
    for (size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& n = graph_.nodes[id];
      if (!is_pointwise(n.kind)) continue;
      int cost = own_cost(n);
      visit_operands(n, [&](Value operand) { cost += cost_[operand.id]; });
      if (cost > kCheap && is_multiplied(Value{static_cast<int32_t>(id)})) needs_buffer_[id] = true;
      cost_[id] = needs_buffer_[id] ? 0 : cost;
    }
  }

  // Would be computed more often than it has elements.
  bool is_multiplied(Value value) const {
    const auto& users = consumers_[value.id];
    if (users.size() > 1) return true;
    return users.size() == 1 && node(users[0]).kind == Kind::Reindex &&
           graph::element_count(node(users[0]).shape) > graph::element_count(node(value).shape);
  }

  void open_group(Value value) {
    fusion_.groups.push_back({{value}});
    join(value, static_cast<int>(fusion_.groups.size()) - 1);
  }

  void join(Value value, int group) {
    fusion_.group_of[value.id] = group;
    last_group_[value.id] = group;
    elementwise_[value.id] = true;
  }

  void place(Value value) {
    const Node& n = node(value);
    if (is_leaf(n)) return;
    if (!is_pointwise(n.kind)) return open_group(value);
    int last = -1;
    for (Value operand : n.operands) last = std::max(last, last_group_[operand.id]);
    bool elementwise = n.kind == Kind::Map || n.kind == Kind::Cast;
    for (Value operand : n.operands) {
      if (last_group_[operand.id] == last && !elementwise_[operand.id]) elementwise = false;
    }
    if (last >= 0 && elementwise && can_follow(fusion_.groups[last], n)) {
      fusion_.groups[last].members.push_back(value);
      return join(value, last);
    }
    if (needs_buffer_[value.id]) return open_group(value);
    last_group_[value.id] = last;
    elementwise_[value.id] = elementwise;
  }

  bool can_follow(const Group& group, const Node& n) const {
    const Node& anchor = node(group.anchor());
    if (anchor.shape != n.shape) return false;
    return anchor.kind != Kind::Contract || (!scatters(anchor) && own_cost(n) < kBulky);
  }

  // A member that only other groups use is computed there instead, if what it reads here is stored
  // anyway.
  void evict() {
    for (Group& group : fusion_.groups) {
      for (size_t i = group.members.size(); i-- > 1;) {
        const Value member = group.members[i];
        if (needs_buffer_[member.id] || used_inside(member) || !reads_stored(member)) continue;
        fusion_.group_of[member.id] = -1;
        group.members.erase(group.members.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  bool reads_stored(Value member) const {
    const int group = fusion_.group_of[member.id];
    return std::ranges::all_of(node(member).operands, [&](Value operand) {
      if (fusion_.group_of[operand.id] != group || needs_buffer_[operand.id]) return true;
      return std::ranges::any_of(consumers_[operand.id], [&](Value user) {
        return user != member && fusion_.group_of[user.id] != group;
      });
    });
  }

  bool used_inside(Value member) const {
    return std::ranges::any_of(consumers_[member.id], [&](Value user) {
      return fusion_.group_of[user.id] == fusion_.group_of[member.id];
    });
  }

  // Calls visit(value, elementwise) for every value in a buffer or leaf that `value`'s expression
  // reads.
  template <class Visit>
  void visit_reads(Value value, bool elementwise, int group, const Visit& visit) const {
    visit_operands(node(value), [&](Value operand) {
      const Node& n = node(operand);
      const int owner = fusion_.group_of[operand.id];
      if (is_leaf(n) || (owner >= 0 && owner != group)) {
        visit(operand, elementwise && node(value).shape == n.shape);
      } else if (owner < 0) {
        const bool same_index = n.kind == Kind::Map || n.kind == Kind::Cast;
        visit_reads(operand, elementwise && same_index, group, visit);
      }
    });
  }

  template <class Visit>
  void visit_group_reads(int group, const Visit& visit) const {
    for (Value member : fusion_.groups[group].members) {
      const Kind kind = node(member).kind;
      visit_reads(member, kind == Kind::Map || kind == Kind::Cast, group, visit);
    }
  }

  void mark_stored() {
    for (size_t g = 0; g < fusion_.groups.size(); ++g) {
      for (Value member : fusion_.groups[g].members) {
        if (needs_buffer_[member.id]) fusion_.stored[member.id] = true;
      }
      visit_group_reads(static_cast<int>(g), [&](Value read, bool) {
        if (!is_leaf(node(read))) fusion_.stored[read.id] = true;
      });
    }
  }

  // An update may write its state's buffer when every other reader can run before it.
  void update_in_place() {
    const int count = static_cast<int>(fusion_.groups.size());
    std::vector<std::set<int>> before(count);  // groups that must run before
    std::vector<std::vector<int>> readers(graph_.nodes.size());
    std::vector<std::set<int>> scattered(graph_.nodes.size());
    for (int g = 0; g < count; ++g) {
      visit_group_reads(g, [&](Value read, bool elementwise) {
        if (const int owner = fusion_.group_of[read.id]; owner >= 0) before[g].insert(owner);
        readers[read.id].push_back(g);
        if (!elementwise) scattered[read.id].insert(g);
      });
    }
    std::set<Value> claimed;
    for (const auto& output : graph_.outputs) claimed.insert(output.value);
    for (size_t u = 0; u < graph_.updates.size(); ++u) {
      const auto& update = graph_.updates[u];
      const int writer = fusion_.group_of[update.value.id];
      if (writer < 0 || !claimed.insert(update.value).second) continue;
      if (scattered[update.state.id].contains(writer)) continue;
      const auto& users = readers[update.state.id];
      const bool possible = std::ranges::all_of(users, [&](int reader) {
        return reader == writer || !must_precede(before, writer, reader);
      });
      if (!possible) continue;
      for (int reader : users) {
        if (reader != writer) before[writer].insert(reader);
      }
      fusion_.in_place[u] = true;
    }
    order(before);
  }

  static bool must_precede(const std::vector<std::set<int>>& before, int first, int then) {
    if (first == then) return true;
    std::vector<bool> seen(before.size());
    std::vector<int> stack = {then};
    while (!stack.empty()) {
      const int group = stack.back();
      stack.pop_back();
      for (int earlier : before[group]) {
        if (earlier == first) return true;
        if (!seen[earlier]) {
          seen[earlier] = true;
          stack.push_back(earlier);
        }
      }
    }
    return false;
  }

  // The earliest group that is ready comes next: a group that had to wait runs as soon as it can,
  // so what it reads dies early.
  void order(const std::vector<std::set<int>>& before) {
    const size_t count = fusion_.groups.size();
    std::vector<std::vector<int>> after(count);
    std::vector<size_t> waits_for(count);
    std::set<int> ready;
    for (size_t g = 0; g < count; ++g) {
      waits_for[g] = before[g].size();
      for (int earlier : before[g]) after[earlier].push_back(static_cast<int>(g));
      if (before[g].empty()) ready.insert(static_cast<int>(g));
    }
    std::vector<int> position(count, -1);
    std::vector<Group> sorted;
    while (!ready.empty()) {
      const int group = *ready.begin();
      ready.erase(ready.begin());
      position[group] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(fusion_.groups[group]));
      for (int later : after[group]) {
        if (--waits_for[later] == 0) ready.insert(later);
      }
    }
    CHECK(sorted.size() == count);
    fusion_.groups = std::move(sorted);
    for (int& group : fusion_.group_of) {
      if (group >= 0) group = position[group];
    }
  }

  const Graph& graph_;
  Fusion fusion_;
  std::vector<std::vector<Value>> consumers_;
  std::vector<bool> needs_buffer_;
  std::vector<int> cost_;          // of recomputing the node where it is used
  std::vector<int> last_group_;    // the latest group that the node's expression reads
  std::vector<bool> elementwise_;  // reads that group at the node's own index only
};

}  // namespace

Fusion fuse_groups(const Graph& graph) { return Fuser(graph).run(); }

bool is_leaf(const Node& node) {
  return node.kind == Kind::Input || node.kind == Kind::State || node.kind == Kind::Constant;
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
  Value value = reshape.operands[0];
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
