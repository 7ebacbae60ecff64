#include "lathe/lower/nest.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lathe/base/check.h"

namespace lathe::lower {

using graph::Kind;
using graph::Node;
using graph::Value;
using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Guard;
using loop::Space;
using loop::Stmt;

Affine apply(const graph::Affine& map, const Index& index) {
  Affine result(map.offset);
  for (size_t d = 0; d < map.coefficients.size(); ++d) result += index[d] * map.coefficients[d];
  return result;
}

loop::Lookup lookup_along(const graph::Shape& shape, size_t axis) {
  loop::Lookup lookup{1, shape[axis]};
  for (size_t k = axis + 1; k < shape.size(); ++k) lookup.scale *= shape[k];
  return lookup;
}

std::vector<size_t> leaving(const graph::AffineMap& map, const std::vector<int64_t>& extents,
                            const graph::Shape& shape) {
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!graph::always_inside({{map.axes[axis]}}, extents, {shape[axis]})) axes.push_back(axis);
  }
  return axes;
}

int32_t EntryContext::add_buffer(std::string name, loop::DType dtype, int64_t size,
                                 loop::BufferRole role) {
  return module.buffers.push_back({std::move(name), dtype, size, role, {}});
}

void Nest::bind(Value value, ExprId expr) { bound_[value] = expr; }

ExprId Nest::load(Value value, const Affine& address, const std::vector<Guard>& guards) {
  const int32_t buffer = context_.buffer_of[value];
  LATHE_CHECK(buffer >= 0);
  return exprs_.load({Space::Global, buffer}, node(value).dtype, address, guards);
}

ExprId Nest::value_at(Value value, const Index& index, const std::vector<Guard>& guards) {
  if (const auto found = bound_.find(value); found != bound_.end()) return found->second;
  const Node& n = node(value);
  if (n.kind == Kind::Constant && graph::is_splat(n)) {
    return exprs_.constant(graph::splat_value(n));
  }
  if (context_.buffer_of[value] >= 0) {
    return load(value, loop::row_major(index, n.shape), guards);
  }
  switch (n.kind) {
    case Kind::Map: {
      ExprId operands[scalar::kMaxArity];
      for (size_t i = 0; i < n.operands.size(); ++i) {
        const auto here = n.operands.begin() + static_cast<std::ptrdiff_t>(i);
        const auto first = std::find(n.operands.begin(), here, *here);
        operands[i] =
            first != here ? operands[first - n.operands.begin()] : value_at(*here, index, guards);
      }
      return exprs_.apply(n.op, operands, static_cast<int>(n.operands.size()));
    }
    case Kind::Cast:
      return exprs_.cast(value_at(n.operands[0], index, guards), n.dtype);
    case Kind::Iota:
      return exprs_.index(index[n.axes[0]]);
    case Kind::Reindex:
      return reindexed(n, index, guards);
    case Kind::Reshape:
      return reshaped(n, index, guards);
    case Kind::Gather:
      return gathered(n, index, guards);
    case Kind::Input:
    case Kind::State:
    case Kind::Constant:
    case Kind::Reduce:
    case Kind::Contract:
    case Kind::Join:
    case Kind::Scatter:
    case Kind::Scan:
    case Kind::Sort:
    case Kind::Loop:
    case Kind::Item:
      break;
  }
  LATHE_CHECK(!"a value without a buffer");
  return -1;
}

ExprId Nest::gathered(const Node& n, const Index& index, const std::vector<Guard>& guards) {
  const Value x = n.operands[0];
  if (graph::is_splat(node(x))) return value_at(x, index, guards);
  const ExprId lookup_index = value_at(n.operands[1], index, guards);
  const int32_t buffer = context_.buffer_of[x];
  LATHE_CHECK(buffer >= 0);
  const auto axis = static_cast<size_t>(n.axes[0]);
  Index rest = index;
  rest[axis] = 0;
  return exprs_.load({Space::Global, buffer}, n.dtype, loop::row_major(rest, node(x).shape), guards,
                     lookup_index, lookup_along(node(x).shape, axis));
}

ExprId Nest::reindexed(const Node& n, const Index& index, std::vector<Guard> guards) {
  const Value operand = n.operands[0];
  const graph::Shape& from = node(operand).shape;
  Index inner;
  for (const graph::Affine& axis : n.map.axes) inner.push_back(apply(axis, index));
  std::vector<Guard> local_guards;
  for (size_t axis : leaving(n.map, n.shape, from))
    local_guards.push_back({inner[axis], from[axis]});
  guards.insert(guards.end(), local_guards.begin(), local_guards.end());
  return zero_outside(value_at(operand, inner, guards), local_guards);
}

ExprId Nest::zero_outside(ExprId element, std::span<const Guard> guards) {
  if (guards.empty() || exprs_[element].kind == loop::ExprKind::Load) return element;
  const auto number = [&](int64_t value) {
    return exprs_.constant(loop::Number::of(static_cast<int32_t>(value)));
  };
  ExprId inside = -1;
  const auto require = [&](ExprId condition) {
    inside = inside < 0 ? condition : exprs_.apply(loop::Op::And, {inside, condition});
  };
  for (const Guard& guard : guards) {
    const ExprId position = exprs_.index(guard.index);
    require(exprs_.apply(loop::Op::Ge, {position, number(0)}));
    require(exprs_.apply(loop::Op::Lt, {position, number(guard.extent)}));
  }
  const ExprId zero = exprs_.constant(loop::Number::from(exprs_[element].dtype, 0));
  return exprs_.apply(loop::Op::Select, {inside, element, zero});
}

ExprId Nest::reshaped(const Node& n, const Index& index, const std::vector<Guard>& guards) {
  if (only_squeezes(context_.graph, n)) {
    const graph::Shape& from = node(n.operands[0]).shape;
    Index inner;
    size_t next = 0;
    for (int64_t extent : from) {
      while (extent != 1 && n.shape[next] == 1) ++next;
      inner.push_back(extent == 1 ? Affine(0) : index[next++]);
    }
    return value_at(n.operands[0], inner, guards);
  }
  const Value memory = reshaped_memory(context_.graph, n);
  if (graph::is_splat(node(memory))) return exprs_.constant(graph::splat_value(node(memory)));
  return load(memory, loop::row_major(index, n.shape), guards);
}

ExprId Nest::computed(Value value, const Index& index) {
  auto bound = bound_.extract(value);
  const int32_t buffer = std::exchange(context_.buffer_of[value], -1);
  const ExprId expr = value_at(value, index);
  context_.buffer_of[value] = buffer;
  if (bound) bound_[value] = bound.mapped();
  return expr;
}

BufferRef Nest::buffer_of(Value value) const { return {Space::Global, context_.buffer_of[value]}; }

std::vector<Stmt> Nest::store_members(const Group& group, const Index& index, const Affine& lane,
                                      int64_t width) {
  const Fusion& fusion = context_.fusion;
  const auto stores = std::ranges::count_if(
      group.members, [&](Value member) { return bool{fusion.stored[member]}; });
  std::vector<Stmt> body, last;
  std::vector<Value> register_members;
  for (Value member : group.members) {
    const bool is_stored = fusion.stored[member];
    if (!is_stored && !(stores > 1 ? fusion.expensive : fusion.oversized)[member.id]) continue;
    const auto bound = bound_.find(member);
    ExprId expr = bound != bound_.end() ? bound->second : computed(member, index);
    if (stores > 1 || !is_stored) {
      const BufferRef temporary = kernel_.add_register("t", node(member).dtype, width);
      body.push_back(loop::store(temporary, lane, expr));
      expr = exprs_.load(temporary, node(member).dtype, lane);
      bind(member, expr);
      register_members.push_back(member);
    }
    if (is_stored) {
      last.push_back(
          loop::store(buffer_of(member), loop::row_major(index, node(member).shape), expr));
    }
  }
  for (Value member : register_members) {
    if (member != group.anchor()) unbind(member);
  }
  std::ranges::move(last, std::back_inserter(body));
  return body;
}

}  // namespace lathe::lower
