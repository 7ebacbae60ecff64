// One adjoint per node, gathered from the last node to the first.
#include "lathe/grad/gradient.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "lathe/base/check.h"
#include "lathe/base/sort.h"
#include "lathe/base/text.h"
#include "lathe/grad/reverse.h"
#include "lathe/ops/reduction/recurrence.h"
#include "lathe/scalar/vjp.h"

namespace lathe::grad {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Kind;
using graph::Node;
using graph::Op;
using graph::Shape;
using graph::Tensor;
using graph::Value;
using scalar::Fold;

namespace {

std::string describe(Tensor x) { return concat(scalar::text(x.dtype()), bracketed(x.shape())); }

}  // namespace

void Reverse::accumulate(Value value, Tensor part) {
  const DType dtype = builder_.graph()[value].dtype;
  if (scalar::is_float(dtype)) {
    if (part.valid()) part = builder_.convert(part, dtype);
  } else if (!is_straight_through(value)) {
    return;
  }
  auto& adjoint = adjoints_[value];
  adjoint = adjoint ? *adjoint + part : part;
}

// Whether gradients pass straight through these integers: results of loose casts, possibly moved.
bool Reverse::is_straight_through(Value value) const {
  const Node& node = builder_.graph()[value];
  switch (node.kind) {
    case Kind::Cast:
      return node.loose || is_straight_through(node.operands[0]);
    case Kind::Reshape:
    case Kind::Reindex:
    case Kind::Gather:
      return is_straight_through(node.operands[0]);
    case Kind::Join:
      return std::ranges::any_of(node.operands,
                                 [&](Value each) { return is_straight_through(each); });
    default:
      return false;
  }
}

void Reverse::run(Value last) {
  for (Value value = last; value.valid() && builder_.ok(); --value.id) {
    builder_.begin_gradient_of(value);
    const auto& adjoint = adjoints_[value];
    if (adjoint) propagate(tensor(value), *adjoint);
    if (const auto results = results_.find(value); results != results_.end()) {
      loop(value, results->second);
    }
  }
}

// The node is copied: adding nodes moves them.
void Reverse::propagate(Tensor out, Tensor g) {
  const Node node = builder_.graph()[out.value];
  switch (node.kind) {
    case Kind::Map:
      return map(node, out, g);
    case Kind::Reduce:
      return reduce(node, out, g);
    case Kind::Contract:
      return contract(node, g);
    case Kind::Reshape:
      return accumulate(node.operands[0], builder_.reshape(g, tensor(node.operands[0]).shape()));
    case Kind::Reindex:
      return reindex(node, g);
    case Kind::Join:
      return join(node, g);
    case Kind::Gather:
      return accumulate(node.operands[0],
                        builder_.scatter(g, tensor(node.operands[1]), node.axes[0],
                                         tensor(node.operands[0]).shape()));
    case Kind::Scatter:
      return accumulate(node.operands[0],
                        builder_.gather(g, tensor(node.operands[1]), node.axes[0]));
    case Kind::Scan:
      return scan(node, g);
    case Kind::Item:
      return item(node, g);
    case Kind::Cast:
      return accumulate(node.operands[0], g);
    case Kind::Loop:
    case Kind::Input:
    case Kind::State:
    case Kind::Constant:
    case Kind::Iota:
    case Kind::Sort:
      return;
  }
}

void Reverse::map(const Node& node, Tensor out, Tensor g) {
  if (node.loose) return accumulate(node.operands[0], g);
  Tensor operands[scalar::kMaxArity];
  for (size_t i = 0; i < node.operands.size(); ++i) operands[i] = tensor(node.operands[i]);
  auto parts = scalar::vjp<Tensor>(node.op, operands[0], operands[1], operands[2], out, g);
  if (node.exclusive) {
    const auto [x, y, z] = operands;
    parts[0] = select(node.op == Op::Max ? x >= y : x <= y, g, zero(g));
    parts[1] = select(node.op == Op::Max ? x < y : x > y, g, zero(g));
  }
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (parts[i]) accumulate(node.operands[i], *parts[i]);
  }
}

// The reduced axes come back with size 1, then spread.
Tensor Reverse::spread(Tensor reduced, const Node& node) {
  const Shape shape = tensor(node.operands[0]).shape();
  Shape reduced_shape = shape;
  for (int axis : node.axes) reduced_shape[axis] = 1;
  return builder_.broadcast_to(builder_.reshape(reduced, reduced_shape), shape);
}

void Reverse::reduce(const Node& node, Tensor out, Tensor g) {
  const Tensor x = tensor(node.operands[0]);
  switch (scalar::info(node.op).fold) {
    case Fold::Sum:
      return accumulate(x.value, spread(g, node));
    case Fold::Product:
      return accumulate(x.value, spread(g, node) * product_of_others(node));
    case Fold::Pick:
      return pick(node, out, g);
    case Fold::Logic:
    case Fold::None:
      LATHE_CHECK(!"no fold of numbers");
  }
}

// The elements that are the result share its gradient, or the first of them has it.
void Reverse::pick(const Node& node, Tensor out, Tensor g) {
  const Tensor x = tensor(node.operands[0]);
  if (!node.exclusive) {
    const Tensor hit = x == spread(out, node);
    const Tensor count = sum(builder_.cast(hit, g.dtype()), node.axes);
    return accumulate(x.value, select(hit, spread(g / count, node), zero(x)));
  }
  const Tensor position = position_in_fold(node);
  const Tensor nowhere = builder_.full(x.shape(), scalar::fold_identity(Op::Min, DType::I32));
  const Tensor hit = select(x == spread(out, node), position, nowhere);
  const Tensor first = builder_.reduce(Op::Min, hit, node.axes);
  accumulate(x.value, select(position == spread(first, node), spread(g, node), zero(x)));
}

// Of those before each by those after it, so that a zero divides nothing.
Tensor Reverse::product_of_others(const Node& node) {
  const Tensor x = tensor(node.operands[0]);
  std::vector<int> order, back(x.shape().size());
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (std::ranges::find(node.axes, axis) == node.axes.end()) order.push_back(axis);
  }
  order.insert(order.end(), node.axes.begin(), node.axes.end());
  for (size_t k = 0; k < order.size(); ++k) back[order[k]] = static_cast<int>(k);
  const Tensor moved = builder_.permute(x, order);
  Shape rows = node.shape;
  rows.push_back(graph::element_count(x.shape()) /
                 std::max<int64_t>(graph::element_count(node.shape), 1));
  const Tensor row = builder_.reshape(moved, rows);
  const Tensor others = builder_.scan(Op::Mul, row, -1, /*exclusive=*/true) *
                        builder_.scan(Op::Mul, row, -1, /*exclusive=*/true, /*reverse=*/true);
  return builder_.permute(builder_.reshape(others, moved.shape()), back);
}

// Row-major number of each element among those that are folded with it.
Tensor Reverse::position_in_fold(const Node& node) {
  const Shape shape = tensor(node.operands[0]).shape();
  Tensor position;
  for (int axis : node.axes) {
    const Tensor along = builder_.iota(shape, axis);
    position = position.valid() ? position * static_cast<float>(shape[axis]) + along : along;
  }
  return position;
}

// The gradients of out[O] += lhs[L] rhs[R] are lhs'[L] += g[O] rhs[R] and rhs'[R] += g[O] lhs[L].
void Reverse::contract(const Node& node, Tensor g) {
  const Contraction& c = node.contraction;
  const Tensor lhs = tensor(node.operands[0]), rhs = tensor(node.operands[1]);
  if (deferrable_.contains(lhs.value)) {
    deferred_.push_back({c, lhs.value, rhs.value, g.value, true});
  } else {
    accumulate(lhs.value, builder_.contract(g, rhs, {c.extents, c.lhs, c.out, c.rhs}, lhs.shape()));
  }
  if (deferrable_.contains(rhs.value)) {
    deferred_.push_back({c, rhs.value, lhs.value, g.value, false});
  } else {
    accumulate(rhs.value, builder_.contract(lhs, g, {c.extents, c.rhs, c.lhs, c.out}, rhs.shape()));
  }
}

void Reverse::join(const Node& node, Tensor g) {
  for (size_t k = 0; k < node.operands.size(); ++k) {
    const Shape shape = tensor(node.operands[k]).shape();
    accumulate(node.operands[k], builder_.reindex(g, node.maps[k], shape));
  }
}

// Element k contributes to the results from index k on (from k + 1 where exclusive).
void Reverse::scan(const Node& node, Tensor g) {
  switch (scalar::info(node.op).fold) {
    case Fold::Sum:
      return accumulate(node.operands[0],
                        builder_.scan(Op::Add, g, node.axes[0], node.exclusive, !node.reverse));
    case Fold::Product:
      return scan_of_products(node, g);
    case Fold::Pick:
      return scan_of_records(node, g);
    case Fold::Logic:
    case Fold::None:
      LATHE_CHECK(!"no fold of numbers");
  }
}

// The product of those before element i is a factor of every result that includes it; the other
// factors sum to s(i) = g(i) + x(i+1) s(i+1), or g(i+1) + … where exclusive. A zero divides
// nothing.
void Reverse::scan_of_products(const Node& node, Tensor g) {
  const Tensor x = tensor(node.operands[0]);
  const int axis = node.axes[0];
  std::vector<int> first(x.shape().size());  // exchanges the axis with the first
  std::iota(first.begin(), first.end(), 0);
  std::swap(first[0], first[axis]);
  const Tensor xs[] = {builder_.permute(g, first), builder_.permute(x, first)};
  Shape one = xs[0].shape();
  if (!one.empty()) one.erase(one.begin());
  const Tensor initial[] = {builder_.full(std::move(one), scalar::Number::from(g.dtype(), 0))};
  const auto step = [&](const ops::ScanStep& each) -> ops::ScanResult {
    const Tensor later = each.carried[0], here = each.slices[0], factor = each.slices[1];
    if (node.exclusive) return {{here + factor * later}, {later}};
    const Tensor sum = here + later;
    return {{factor * sum}, {sum}};
  };
  const auto sums = ops::scan(builder_, {xs[0].shape()[0], !node.reverse}, initial, xs, {}, step);
  const Tensor before = builder_.scan(Op::Mul, x, axis, /*exclusive=*/true, node.reverse);
  if (builder_.ok()) accumulate(x.value, before * builder_.permute(sums.stacked[0], first));
}

// Each result is the element that was the latest to exceed all before it.
void Reverse::scan_of_records(const Node& node, Tensor g) {
  const Tensor x = tensor(node.operands[0]);
  const int axis = node.axes[0];
  const Tensor before = builder_.scan(node.op, x, axis, /*exclusive=*/true, node.reverse);
  const Tensor exceeds = node.op == Op::Max ? x > before : x < before;
  const Op latest = node.reverse ? Op::Min : Op::Max;
  const Tensor nowhere = builder_.full(x.shape(), scalar::fold_identity(latest, DType::I32));
  const Tensor record = select(exceeds, builder_.iota(x.shape(), axis), nowhere);
  const Tensor source = builder_.scan(latest, record, axis, node.exclusive, node.reverse);
  accumulate(x.value,
             builder_.scatter(select(source == nowhere, zero(g), g), source, axis, x.shape()));
}

// A view that repeats elements sums them: over entire dimensions where the map is a projection,
// else as a contraction with one.
void Reverse::reindex(const Node& node, Tensor g) {
  const Tensor x = tensor(node.operands[0]);
  if (const auto summed = undo_projection(node, g, x.shape())) {
    return accumulate(x.value, *summed);
  }
  Contraction scatter{node.shape, node.map, {}, {}};
  std::vector<int> all(node.shape.size());
  std::iota(all.begin(), all.end(), 0);
  scatter.lhs = AffineMap::project(static_cast<int>(all.size()), all);
  accumulate(x.value, builder_.contract(g, builder_.full({}, scalar::Number::from(g.dtype(), 1)),
                                        scatter, x.shape()));
}

// Every axis of x is an entire dimension of g, or has size 1: sums the other dimensions, then
// orders the axes.
std::optional<Tensor> Reverse::undo_projection(const Node& node, Tensor g, Shape shape) {
  std::vector<int> order;  // dimension of g for each axis of x that has one
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Affine& affine = node.map.axes[axis];
    const int d = affine.single_dimension();
    const bool constant =
        std::ranges::all_of(affine.coefficients, [](int64_t c) { return c == 0; });
    if (d >= 0 && node.shape[d] == shape[axis]) {
      if (std::ranges::find(order, d) != order.end()) return std::nullopt;
      order.push_back(d);
    } else if (!constant || affine.offset != 0 || shape[axis] != 1) {
      return std::nullopt;
    }
  }
  std::vector<int> summed;
  for (int d = 0; d < static_cast<int>(node.shape.size()); ++d) {
    if (std::ranges::find(order, d) == order.end()) summed.push_back(d);
  }
  Tensor result = summed.empty() ? g : sum(g, summed);
  std::vector<int> sorted = order;
  sort_ascending(sorted);
  for (int& d : order) d = static_cast<int>(std::ranges::find(sorted, d) - sorted.begin());
  if (!std::ranges::is_sorted(order)) result = builder_.permute(result, order);
  return builder_.reshape(result, shape);
}

std::vector<Tensor> gradients(Builder& builder, Tensor loss, std::span<const Tensor> wrt) {
  if (builder.ok() && (!scalar::is_float(loss.dtype()) || loss.rank() != 0)) {
    builder.error(concat("gradients: the loss must be one float, not ", describe(loss)));
  }
  if (!builder.ok()) return std::vector<Tensor>(wrt.size(), Tensor{&builder, {}});
  const Tensor one = builder.full({}, scalar::Number::from(loss.dtype(), 1));
  return vjp(builder, {&loss, 1}, {&one, 1}, wrt);
}

std::vector<Tensor> vjp(Builder& builder, std::span<const Tensor> targets,
                        std::span<const Tensor> seeds, std::span<const Tensor> wrt) {
  std::vector<Tensor> result(wrt.size(), Tensor{&builder, {}});
  LATHE_CHECK(targets.size() == seeds.size());
  if (!builder.ok()) return result;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (describe(targets[i]) == describe(seeds[i])) continue;
    builder.error(concat("gradients: ", describe(targets[i]), " with a factor of ",
                         describe(seeds[i]), "; their types must be the same"));
    return result;
  }
  for (const Tensor& x : wrt) {
    if (scalar::is_float(x.dtype())) continue;
    builder.error(concat("gradients: expected floats to differentiate by, not ", describe(x)));
    return result;
  }
  Reverse reverse(builder);
  Value last{};
  for (size_t i = 0; i < targets.size(); ++i) {
    reverse.accumulate(targets[i].value, seeds[i]);
    if (!last.valid() || last.id < targets[i].value.id) last = targets[i].value;
  }
  reverse.run(last);
  for (size_t i = 0; i < wrt.size(); ++i) {
    const auto adjoint = reverse.adjoint(wrt[i].value);
    result[i] = adjoint ? *adjoint : zero(wrt[i]);
  }
  return result;
}

}  // namespace lathe::grad
