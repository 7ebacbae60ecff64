// Copies the graph node by node. A node may be represented by a lazy transpose of a value, which is
// materialized when a reader needs the value itself.
#include "lathe/opt/sink_transposes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "lathe/base/insert.h"
#include "lathe/base/sort.h"
#include "lathe/base/table.h"
#include "lathe/graph/rewriter.h"

namespace lathe::opt {

using graph::Affine;
using graph::AffineMap;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;

namespace {

using Order = std::vector<int>;

bool is_identity(const Order& order) {
  return std::ranges::is_sorted(order);  // of different numbers
}

Order inverse(const Order& order) {
  Order result(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    result[order[k]] = static_cast<int>(k);
  }
  return result;
}

template <class T>
std::vector<T> picked(const std::vector<T>& list, const Order& order) {
  std::vector<T> result;
  for (const int each : order) result.push_back(list[each]);
  return result;
}

// A lazy transpose: axis k is axis order[k] of `inner`.
struct Permuted {
  Value inner;
  Order order;
};

// The permutation of axes, if the node is a transpose of its operand.
std::optional<Order> order_of(const Node& node, const Shape& operand) {
  const size_t rank = node.shape.size();
  if (node.kind != Kind::Reindex || operand.size() != rank || !node.map.is_projection()) {
    return std::nullopt;
  }
  Order order(rank);
  for (size_t k = 0; k < rank; ++k) {
    const int d = node.map.axes[k].single_dimension();
    if (node.shape[d] != operand[k]) return std::nullopt;
    order[d] = static_cast<int>(k);
  }
  return order;
}

// Forms over i as those over j, where i[k] = j[order[k]].
Affine over_inner(const Affine& form, const Order& order) {
  Affine result{std::vector<int64_t>(form.coefficients.size(), 0), form.offset};
  for (size_t k = 0; k < order.size(); ++k) {
    result.coefficients[order[k]] = form.coefficients[k];
  }
  return result;
}

// Whether axis k depends only on index k.
bool is_axiswise(const AffineMap& map, size_t rank) {
  if (map.axes.size() != rank) return false;
  for (size_t k = 0; k < rank; ++k) {
    for (size_t d = 0; d < rank; ++d) {
      if (d != k && map.axes[k].coefficients[d] != 0) return false;
    }
  }
  return true;
}

class Sinker final : public graph::Rewriter {
 public:
  // As Rewriter::run(); ids of the tracked values are updated.
  Graph run(Graph graph, std::vector<Value>& tracked) {
    std::vector<Node> nodes = std::exchange(graph.nodes, {});
    graph_ = std::move(graph);
    Table<Value, bool> is_tracked(nodes.size());
    for (const Value each : tracked) is_tracked[each] = true;
    for (size_t id = 0; id < nodes.size(); ++id) {
      const size_t first = graph_.nodes.size();
      const graph::Part part = nodes[id].part;
      values_.push_back(sink(std::move(nodes[id])));
      if (is_tracked[id]) values_[id] = plain(materialize(values_[id]));
      join_part(graph_, first, part);
    }
    Table<Value, Value> renamed(values_.size());
    const auto rename = [&](Value value) { renamed[value] = materialize(values_[value]); };
    for (const graph::Output& each : graph_.outputs) rename(each.value);
    for (const graph::Update& each : graph_.updates) {
      rename(each.state);
      rename(each.value);
    }
    for (Value& each : tracked) each = values_[each].inner;
    rename_results(graph_, renamed);
    return std::move(graph_);
  }

 private:
  Value replace(Node node) override { return add(std::move(node)); }

  const Shape& shape_of(Value value) const { return (*this)[value].shape; }
  const Permuted& operand(const Node& node, size_t k) const { return values_[node.operands[k]]; }
  static bool is_permuted(const Permuted& value) { return !is_identity(value.order); }

  static Permuted plain(Value value, size_t rank) {
    Order order(rank);
    std::iota(order.begin(), order.end(), 0);
    return {value, std::move(order)};
  }
  Permuted plain(Value value) const { return plain(value, shape_of(value).size()); }

  // The value that it represents; each transpose is materialized once.
  Value materialize(const Permuted& value) {
    if (!is_permuted(value)) return value.inner;
    Value& transposed = transposed_[{value.inner, value.order}];
    if (!transposed.valid()) transposed = permuted(value.inner, value.order);
    return transposed;
  }

  Value permuted(Value value, const Order& order) {
    const Shape shape = picked(shape_of(value), order);
    const int rank = static_cast<int>(order.size());
    return reindex(value, AffineMap::project(rank, inverse(order)), shape);
  }

  Permuted materialized(Node node) {
    for (Value& each : node.operands) each = materialize(values_[each]);
    return plain(add(std::move(node)));
  }

  Permuted sink(Node node) {
    const bool any =
        std::ranges::any_of(node.operands, [&](Value each) { return is_permuted(values_[each]); });
    if (node.kind == Kind::Reindex) {
      const Permuted& x = operand(node, 0);
      const Shape shape = picked(shape_of(x.inner), x.order);
      if (const auto order = order_of(node, shape)) return {x.inner, picked(x.order, *order)};
    }
    if (!any) return materialized(std::move(node));
    switch (node.kind) {
      case Kind::Cast:
      case Kind::Map:
        return map_of(std::move(node));
      case Kind::Reduce:
        return fold_of(std::move(node));
      case Kind::Scan:
        return scan_of(std::move(node));
      case Kind::Reshape:
        return reshape_of(std::move(node));
      case Kind::Reindex:
        return view_of(std::move(node));
      case Kind::Join:
        return join_of(std::move(node));
      case Kind::Gather:
        return gather_of(std::move(node));
      case Kind::Contract:
        return product_of(std::move(node));
      case Kind::Input:
      case Kind::State:
      case Kind::Constant:
      case Kind::Iota:
      case Kind::Scatter:
      case Kind::Sort:
      case Kind::Loop:
      case Kind::Item:
        return materialized(std::move(node));
    }
    return materialized(std::move(node));
  }

  // Whether it is constant or small compared with the results computed from it: such an operand may
  // be permuted at no cost.
  bool is_cheap(Value value) const {
    const Node& node = (*this)[value];
    if (node.kind == Kind::Constant || node.kind == Kind::Iota) return true;
    return node.kind == Kind::Reindex &&
           2 * graph::element_count(shape_of(node.operands[0])) <= graph::element_count(node.shape);
  }

  // The order of the majority of the operands that are not cheap, where that is no worse than
  // materializing all. A state counts twice: its transpose is an additional value.
  std::optional<Order> shared_order(const Node& node) const {
    const Order* order = nullptr;
    int same = 0, other = 0;
    for (const Value each : node.operands) {
      const Permuted& x = values_[each];
      if (order == nullptr && is_permuted(x)) order = &x.order;
    }
    for (const Value each : node.operands) {
      const Permuted& x = values_[each];
      if (order != nullptr && x.order == *order) {
        ++same;
      } else if (is_permuted(x) || !is_cheap(x.inner)) {
        other += (*this)[x.inner].kind == Kind::State ? 2 : 1;
      }
    }
    if (order == nullptr || other > same) return std::nullopt;
    return *order;
  }

  // The value with its axes as they are inside a value of this order.
  Value inside(const Permuted& value, const Order& order) {
    if (value.order == order) return value.inner;
    if (is_permuted(value)) return materialize({value.inner, picked(value.order, inverse(order))});
    const Node node = (*this)[value.inner];
    const Shape shape = picked(node.shape, inverse(order));
    if (is_splat(node)) return splat(splat_value(node), shape);
    if (node.kind == Kind::Iota) {
      Node permuted_iota = node;
      permuted_iota.shape = shape;
      permuted_iota.axes = {order[node.axes[0]]};
      return add(std::move(permuted_iota));
    }
    if (node.kind != Kind::Reindex) return materialize({value.inner, inverse(order)});
    AffineMap map = node.map;
    for (Affine& each : map.axes) each = over_inner(each, order);
    return reindex(node.operands[0], std::move(map), shape);
  }

  Permuted map_of(Node node) {
    const auto order = shared_order(node);
    if (!order) return materialized(std::move(node));
    for (Value& each : node.operands) {
      const Permuted x = values_[each];
      each = inside(x, *order);
    }
    node.shape = picked(node.shape, inverse(*order));
    return {add(std::move(node)), *order};
  }

  Permuted fold_of(Node node) {
    const Permuted x = operand(node, 0);
    std::vector<bool> is_folded(x.order.size());
    for (int& axis : node.axes) {
      axis = x.order[axis];
      is_folded[axis] = true;
    }
    sort_ascending(node.axes);
    std::vector<int> number(x.order.size());
    Shape shape;
    for (size_t k = 0; k < number.size(); ++k) {
      number[k] = static_cast<int>(shape.size());
      if (!is_folded[k]) shape.push_back(shape_of(x.inner)[k]);
    }
    Order order;
    for (const int axis : x.order) {
      if (!is_folded[axis]) order.push_back(number[axis]);
    }
    node.operands = {x.inner};
    node.shape = std::move(shape);
    return {add(std::move(node)), order};
  }

  Permuted scan_of(Node node) {
    const Permuted x = operand(node, 0);
    node.axes = {x.order[node.axes[0]]};
    node.operands = {x.inner};
    node.shape = shape_of(x.inner);
    return {add(std::move(node)), x.order};
  }

  // An element of a view is one of the inner value, too; where axes stay separate the view is
  // permuted.
  Permuted view_of(Node node) {
    const Permuted x = operand(node, 0);
    const size_t rank = node.shape.size();
    AffineMap map{std::vector<Affine>(x.order.size())};
    const bool stays = is_axiswise(node.map, rank) && x.order.size() == rank;
    for (size_t k = 0; k < x.order.size(); ++k) {
      const Affine& form = node.map.axes[k];
      map.axes[x.order[k]] = stays ? over_inner(form, x.order) : form;
    }
    const Shape shape = stays ? picked(node.shape, inverse(x.order)) : node.shape;
    const Value value = reindex(x.inner, std::move(map), shape);
    return stays ? Permuted{value, x.order} : plain(value);
  }

  Permuted join_of(Node node) {
    const auto order = shared_order(node);
    const size_t rank = node.shape.size();
    const bool same_rank = std::ranges::all_of(
        node.operands, [&](Value each) { return values_[each].order.size() == rank; });
    if (!order || !same_rank) return materialized(std::move(node));
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const Permuted x = operand(node, k);
      node.operands[k] = inside(x, *order);
      AffineMap map = node.maps[k];
      for (size_t axis = 0; axis < rank; ++axis) {
        map.axes[(*order)[axis]] = over_inner(node.maps[k].axes[axis], *order);
      }
      node.maps[k] = std::move(map);
    }
    node.shape = picked(node.shape, inverse(*order));
    return {add(std::move(node)), *order};
  }

  Permuted gather_of(Node node) {
    const Permuted x = operand(node, 0), index = operand(node, 1);
    if (!is_permuted(x) ||
        (index.order != x.order && (is_permuted(index) || !is_cheap(index.inner)))) {
      return materialized(std::move(node));
    }
    node.operands = {x.inner, inside(index, x.order)};
    node.axes = {x.order[node.axes[0]]};
    node.shape = picked(node.shape, inverse(x.order));
    return {add(std::move(node)), x.order};
  }

  // Matrix products read any order equally fast; convolution windows need contiguous channels.
  Permuted product_of(Node node) {
    AffineMap graph::Contraction::*const maps[] = {&graph::Contraction::lhs,
                                                   &graph::Contraction::rhs};
    for (size_t side = 0; side < 2; ++side) {
      const Permuted x = operand(node, side);
      AffineMap& map = node.contraction.*maps[side];
      if (is_permuted(x) && map.is_projection()) {
        AffineMap inner = map;
        for (size_t k = 0; k < x.order.size(); ++k) {
          inner.axes[x.order[k]] = map.axes[k];
        }
        map = std::move(inner);
        node.operands[side] = x.inner;
      } else {
        node.operands[side] = materialize(x);
      }
    }
    return plain(add(std::move(node)));
  }

  // Axes of one shape that are as many elements as axes of another, both without those of size 1.
  struct Group {
    std::vector<int> from, to;
  };

  static std::optional<std::vector<Group>> groups_of(const Shape& from, const Shape& to) {
    std::vector<Group> groups;
    size_t i = 0, j = 0;
    const auto skip_ones = [](const Shape& shape, size_t& at) {
      while (at < shape.size() && shape[at] == 1) ++at;
      return at < shape.size();
    };
    while (true) {
      const bool more = skip_ones(from, i), rest = skip_ones(to, j);
      if (!more && !rest) return groups;
      if (!more || !rest) return std::nullopt;  // of no elements
      Group group;
      int64_t left = 1, right = 1;
      do {
        if (left <= right && skip_ones(from, i)) {
          group.from.push_back(static_cast<int>(i));
          left *= from[i++];
        } else if (skip_ones(to, j)) {
          group.to.push_back(static_cast<int>(j));
          right *= to[j++];
        } else {
          return std::nullopt;
        }
      } while (left != right);
      groups.push_back(std::move(group));
    }
  }

  // Axes that are merged, or split from one, must be adjacent in the inner value; then each group
  // is reshaped separately, without a copy.
  Permuted reshape_of(Node node) {
    const Permuted x = operand(node, 0);
    const Shape from = picked(shape_of(x.inner), x.order), to = node.shape;
    auto groups = graph::element_count(to) == 0 ? std::nullopt : groups_of(from, to);
    if (!groups) return materialized(std::move(node));
    const auto inner_axis = [&](int axis) { return x.order[axis]; };
    const auto first = [&](const Group& group) {
      return std::ranges::min(group.from, {}, inner_axis);
    };
    sort_by(*groups, [&](const Group& a, const Group& b) {
      return inner_axis(first(a)) < inner_axis(first(b));
    });
    Order inside, axes;  // of x inside, and of the result, in the order of the groups
    for (const Group& group : *groups) {
      for (const int axis : group.from) inside.push_back(inner_axis(axis));
      axes.insert(axes.end(), group.to.begin(), group.to.end());
    }
    for (size_t k = 0; k < from.size(); ++k) {
      if (from[k] == 1) inside.push_back(inner_axis(static_cast<int>(k)));
    }
    const bool is_in_order = std::ranges::is_sorted(inside, {}, [&](int axis) {
      return shape_of(x.inner)[axis] == 1 ? static_cast<int>(from.size()) : axis;
    });
    const Value side_by_side = is_in_order ? x.inner : materialize({x.inner, inside});
    if (is_identity(axes)) return plain(reshape(side_by_side, to));
    for (size_t k = 0; k < to.size(); ++k) {
      if (to[k] == 1) insert_at(axes, 0, static_cast<int>(k));
    }
    return {reshape(side_by_side, picked(to, axes)), inverse(axes)};
  }

  Table<Value, Permuted> values_;  // what represents each node
  std::map<std::pair<Value, Order>, Value> transposed_;
};

std::ptrdiff_t transposes(const Graph& graph) {
  return std::ranges::count_if(graph.nodes, [&](const Node& node) {
    if (node.kind != Kind::Reindex) return false;
    const auto operand = static_cast<size_t>(node.operands[0].id);
    const auto order = order_of(node, graph.nodes[operand].shape);
    return order && !is_identity(*order);
  });
}

}  // namespace

Graph sink_all_transposes(Graph graph, std::vector<Value>& tracked) {
  return Sinker().run(std::move(graph), tracked);
}

Graph sink_transposes(Graph graph) {
  const auto before = transposes(graph);
  if (before == 0) return graph;
  std::vector<Value> none;
  Graph sunk = sink_all_transposes(graph, none);
  return transposes(sunk) < before ? sunk : graph;
}

}  // namespace lathe::opt
