// Copies the graph node by node. What stands for a node may be a transpose of a value: that is
// written down when somebody needs the value itself.
#include "lathe/opt/sink_transposes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "lathe/base/insert.h"
#include "lathe/base/sort.h"
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
    result[static_cast<size_t>(order[k])] = static_cast<int>(k);
  }
  return result;
}

template <class T>
std::vector<T> picked(const std::vector<T>& list, const Order& order) {
  std::vector<T> result;
  for (const int each : order) result.push_back(list[static_cast<size_t>(each)]);
  return result;
}

// Axis k is axis order[k] of `inner`.
struct Turned {
  Value inner;
  Order order;
};

// The order of axes that a node is of its operand, if it is but that.
std::optional<Order> order_of(const Node& node, const Shape& operand) {
  const size_t rank = node.shape.size();
  if (node.kind != Kind::Reindex || operand.size() != rank || !node.map.is_projection()) {
    return std::nullopt;
  }
  Order order(rank);
  for (size_t k = 0; k < rank; ++k) {
    const int d = node.map.axes[k].single_dimension();
    if (node.shape[static_cast<size_t>(d)] != operand[k]) return std::nullopt;
    order[static_cast<size_t>(d)] = static_cast<int>(k);
  }
  return order;
}

// Forms over i as those over j, where i[k] = j[order[k]].
Affine over_inner(const Affine& form, const Order& order) {
  Affine result{std::vector<int64_t>(form.coefficients.size(), 0), form.offset};
  for (size_t k = 0; k < order.size(); ++k) {
    result.coefficients[static_cast<size_t>(order[k])] = form.coefficients[k];
  }
  return result;
}

// Whether axis k depends on index k alone.
bool keeps_axes(const AffineMap& map, size_t rank) {
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
  // As Rewriter::run(), with values that stay known by number.
  Graph run(Graph graph, std::vector<Value>& kept) {
    std::vector<Node> nodes = std::exchange(graph.nodes, {});
    graph_ = std::move(graph);
    std::vector<bool> is_kept(nodes.size());
    for (const Value each : kept) is_kept[static_cast<size_t>(each.id)] = true;
    for (size_t id = 0; id < nodes.size(); ++id) {
      const size_t first = graph_.nodes.size();
      const graph::Part part = nodes[id].part;
      turned_.push_back(sunk(std::move(nodes[id])));
      if (is_kept[id]) turned_[id] = plain(itself(turned_[id]));
      join_part(graph_, first, part);
    }
    std::vector<Value> renamed(turned_.size());
    const auto rename = [&](Value value) {
      renamed[static_cast<size_t>(value.id)] = itself(turned_[static_cast<size_t>(value.id)]);
    };
    for (const graph::Output& each : graph_.outputs) rename(each.value);
    for (const graph::Update& each : graph_.updates) {
      rename(each.state);
      rename(each.value);
    }
    for (Value& each : kept) each = turned_[static_cast<size_t>(each.id)].inner;
    rename_results(graph_, renamed);
    return std::move(graph_);
  }

 private:
  Value replace(Node node) override { return add(std::move(node)); }

  const Shape& shape_of(Value value) const { return (*this)[value].shape; }
  const Turned& operand(const Node& node, size_t k) const {
    return turned_[static_cast<size_t>(node.operands[k].id)];
  }
  static bool is_turned(const Turned& value) { return !is_identity(value.order); }

  static Turned plain(Value value, size_t rank) {
    Order order(rank);
    std::iota(order.begin(), order.end(), 0);
    return {value, std::move(order)};
  }
  Turned plain(Value value) const { return plain(value, shape_of(value).size()); }

  // The value that it stands for, written down once.
  Value itself(const Turned& value) {
    if (!is_turned(value)) return value.inner;
    Value& written = written_[{value.inner, value.order}];
    if (!written.valid()) written = permuted(value.inner, value.order);
    return written;
  }

  Value permuted(Value value, const Order& order) {
    const Shape shape = picked(shape_of(value), order);
    const int rank = static_cast<int>(order.size());
    return reindex(value, AffineMap::project(rank, inverse(order)), shape);
  }

  Turned written_down(Node node) {
    for (Value& each : node.operands) each = itself(turned_[static_cast<size_t>(each.id)]);
    return plain(add(std::move(node)));
  }

  Turned sunk(Node node) {
    const bool any = std::ranges::any_of(node.operands, [&](Value each) {
      return is_turned(turned_[static_cast<size_t>(each.id)]);
    });
    if (node.kind == Kind::Reindex) {
      const Turned& x = operand(node, 0);
      const Shape shape = picked(shape_of(x.inner), x.order);
      if (const auto order = order_of(node, shape)) return {x.inner, picked(x.order, *order)};
    }
    if (!any) return written_down(std::move(node));
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
        return written_down(std::move(node));
    }
    return written_down(std::move(node));
  }

  // Whether its elements are few beside what is computed of it, or known: such an operand may have
  // its axes in any order.
  bool is_cheap(Value value) const {
    const Node& node = (*this)[value];
    if (node.kind == Kind::Constant || node.kind == Kind::Iota) return true;
    return node.kind == Kind::Reindex &&
           2 * graph::element_count(shape_of(node.operands[0])) <= graph::element_count(node.shape);
  }

  // The order that most of what is not cheap has, where that is no worse than writing all down. A
  // state counts twice: it becomes a value of its own order.
  std::optional<Order> shared_order(const Node& node) const {
    const Order* order = nullptr;
    int same = 0, other = 0;
    for (const Value each : node.operands) {
      const Turned& x = turned_[static_cast<size_t>(each.id)];
      if (order == nullptr && is_turned(x)) order = &x.order;
    }
    for (const Value each : node.operands) {
      const Turned& x = turned_[static_cast<size_t>(each.id)];
      if (order != nullptr && x.order == *order) {
        ++same;
      } else if (is_turned(x) || !is_cheap(x.inner)) {
        other += (*this)[x.inner].kind == Kind::State ? 2 : 1;
      }
    }
    if (order == nullptr || other > same) return std::nullopt;
    return *order;
  }

  // The value with its axes as they are inside a value of this order.
  Value inside(const Turned& value, const Order& order) {
    if (value.order == order) return value.inner;
    if (is_turned(value)) return itself({value.inner, picked(value.order, inverse(order))});
    const Node node = (*this)[value.inner];
    const Shape shape = picked(node.shape, inverse(order));
    if (is_splat(node)) return splat(splat_value(node), shape);
    if (node.kind == Kind::Iota) {
      Node turned = node;
      turned.shape = shape;
      turned.axes = {order[static_cast<size_t>(node.axes[0])]};
      return add(std::move(turned));
    }
    if (node.kind != Kind::Reindex) return itself({value.inner, inverse(order)});
    AffineMap map = node.map;
    for (Affine& each : map.axes) each = over_inner(each, order);
    return reindex(node.operands[0], std::move(map), shape);
  }

  Turned map_of(Node node) {
    const auto order = shared_order(node);
    if (!order) return written_down(std::move(node));
    for (Value& each : node.operands) {
      const Turned x = turned_[static_cast<size_t>(each.id)];
      each = inside(x, *order);
    }
    node.shape = picked(node.shape, inverse(*order));
    return {add(std::move(node)), *order};
  }

  Turned fold_of(Node node) {
    const Turned x = operand(node, 0);
    std::vector<bool> is_folded(x.order.size());
    for (int& axis : node.axes) {
      axis = x.order[static_cast<size_t>(axis)];
      is_folded[static_cast<size_t>(axis)] = true;
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
      if (!is_folded[static_cast<size_t>(axis)]) order.push_back(number[static_cast<size_t>(axis)]);
    }
    node.operands = {x.inner};
    node.shape = std::move(shape);
    return {add(std::move(node)), order};
  }

  Turned scan_of(Node node) {
    const Turned x = operand(node, 0);
    node.axes = {x.order[static_cast<size_t>(node.axes[0])]};
    node.operands = {x.inner};
    node.shape = shape_of(x.inner);
    return {add(std::move(node)), x.order};
  }

  // An element of a view is one of the inner value, too; where axes stay apart the view is turned.
  Turned view_of(Node node) {
    const Turned x = operand(node, 0);
    const size_t rank = node.shape.size();
    AffineMap map{std::vector<Affine>(x.order.size())};
    const bool stays = keeps_axes(node.map, rank) && x.order.size() == rank;
    for (size_t k = 0; k < x.order.size(); ++k) {
      const Affine& form = node.map.axes[k];
      map.axes[static_cast<size_t>(x.order[k])] = stays ? over_inner(form, x.order) : form;
    }
    const Shape shape = stays ? picked(node.shape, inverse(x.order)) : node.shape;
    const Value value = reindex(x.inner, std::move(map), shape);
    return stays ? Turned{value, x.order} : plain(value);
  }

  Turned join_of(Node node) {
    const auto order = shared_order(node);
    const size_t rank = node.shape.size();
    const bool same_rank = std::ranges::all_of(node.operands, [&](Value each) {
      return turned_[static_cast<size_t>(each.id)].order.size() == rank;
    });
    if (!order || !same_rank) return written_down(std::move(node));
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const Turned x = operand(node, k);
      node.operands[k] = inside(x, *order);
      AffineMap map = node.maps[k];
      for (size_t axis = 0; axis < rank; ++axis) {
        map.axes[static_cast<size_t>((*order)[axis])] = over_inner(node.maps[k].axes[axis], *order);
      }
      node.maps[k] = std::move(map);
    }
    node.shape = picked(node.shape, inverse(*order));
    return {add(std::move(node)), *order};
  }

  Turned gather_of(Node node) {
    const Turned x = operand(node, 0), index = operand(node, 1);
    if (!is_turned(x) || (index.order != x.order && (is_turned(index) || !is_cheap(index.inner)))) {
      return written_down(std::move(node));
    }
    node.operands = {x.inner, inside(index, x.order)};
    node.axes = {x.order[static_cast<size_t>(node.axes[0])]};
    node.shape = picked(node.shape, inverse(x.order));
    return {add(std::move(node)), x.order};
  }

  // Products of matrices read any order as fast; windows want their channels together.
  Turned product_of(Node node) {
    AffineMap graph::Contraction::*const maps[] = {&graph::Contraction::lhs,
                                                   &graph::Contraction::rhs};
    for (size_t side = 0; side < 2; ++side) {
      const Turned x = operand(node, side);
      AffineMap& map = node.contraction.*maps[side];
      if (is_turned(x) && map.is_projection()) {
        AffineMap inner = map;
        for (size_t k = 0; k < x.order.size(); ++k) {
          inner.axes[static_cast<size_t>(x.order[k])] = map.axes[k];
        }
        map = std::move(inner);
        node.operands[side] = x.inner;
      } else {
        node.operands[side] = itself(x);
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

  // Axes that become one, or come of one, must lie side by side inside; then each group is reshaped
  // alone, where it lies.
  Turned reshape_of(Node node) {
    const Turned x = operand(node, 0);
    const Shape from = picked(shape_of(x.inner), x.order), to = node.shape;
    auto groups = graph::element_count(to) == 0 ? std::nullopt : groups_of(from, to);
    if (!groups) return written_down(std::move(node));
    const auto place = [&](int axis) { return x.order[static_cast<size_t>(axis)]; };
    const auto first = [&](const Group& group) { return std::ranges::min(group.from, {}, place); };
    sort_by(*groups,
            [&](const Group& a, const Group& b) { return place(first(a)) < place(first(b)); });
    Order inside, axes;  // of x inside, and of the result, in the order of the groups
    for (const Group& group : *groups) {
      for (const int axis : group.from) inside.push_back(place(axis));
      axes.insert(axes.end(), group.to.begin(), group.to.end());
    }
    for (size_t k = 0; k < from.size(); ++k) {
      if (from[k] == 1) inside.push_back(place(static_cast<int>(k)));
    }
    const bool lies_so = std::ranges::is_sorted(inside, {}, [&](int axis) {
      return shape_of(x.inner)[static_cast<size_t>(axis)] == 1 ? static_cast<int>(from.size())
                                                               : axis;
    });
    const Value side_by_side = lies_so ? x.inner : itself({x.inner, inside});
    if (is_identity(axes)) return plain(reshape(side_by_side, to));
    for (size_t k = 0; k < to.size(); ++k) {
      if (to[k] == 1) insert_at(axes, 0, static_cast<int>(k));
    }
    return {reshape(side_by_side, picked(to, axes)), inverse(axes)};
  }

  std::vector<Turned> turned_;  // what stands for each node
  std::map<std::pair<Value, Order>, Value> written_;
};

}  // namespace

Graph sink_transposes(Graph graph, std::vector<Value>& kept) {
  return Sinker().run(std::move(graph), kept);
}

Graph sink_transposes(Graph graph) {
  std::vector<Value> none;
  return sink_transposes(std::move(graph), none);
}

}  // namespace lathe::opt
