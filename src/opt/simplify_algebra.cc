// Copies the graph node by node; a node that a rule matches is replaced by the right-hand side of
// the rule.
#include "lathe/opt/simplify_algebra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "lathe/graph/elements.h"
#include "lathe/graph/rewriter.h"
#include "lathe/opt/algebra_rules.h"

namespace lathe::opt {

using graph::AffineMap;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;
using scalar::DType;
using scalar::Number;

namespace {

// add() simplifies a node whose operands are simplified.
class Simplifier final : public graph::Rewriter {
  using Bindings = std::array<Value, 26>;

  Value replace(Node node) override { return add(std::move(node)); }

  Value add(Node node) override {
    const auto value = simpler(node);
    return value ? *value : Rewriter::add(std::move(node));
  }

  std::optional<Value> simpler(const Node& node) {
    switch (node.kind) {
      case Kind::Map:
        if (const auto value = apply_rules(node)) return value;
        return map_of_reindex(node);
      case Kind::Cast:
        return cast(node);
      case Kind::Reduce:
        return reduce(node);
      case Kind::Contract:
        return contract(node);
      case Kind::Reshape:
        return reshape(node);
      case Kind::Reindex:
        return reindex(node);
      case Kind::Input:
      case Kind::State:
      case Kind::Constant:
      case Kind::Iota:
      case Kind::Join:
      case Kind::Gather:
      case Kind::Scatter:
      case Kind::Scan:
      case Kind::Sort:
      case Kind::Loop:
      case Kind::Item:
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Value> apply_rules(const Node& node) {
    for (const Rule& rule : algebra_rules(node.op)) {
      if (rule.floats_only && !scalar::is_float(node.dtype)) continue;
      Bindings bindings{};
      if (matches(rule.from, node, bindings)) return build(rule.to, node, bindings);
    }
    return std::nullopt;
  }

  bool matches(const Pattern& pattern, const Node& node, Bindings& bindings) {
    if (node.kind != Kind::Map || node.op != pattern.op) return false;
    for (size_t i = 0; i < pattern.operands.size(); ++i) {
      if (!matches(pattern.operands[i], node.operands[i], bindings)) return false;
    }
    return true;
  }

  bool matches(const Pattern& pattern, Value value, Bindings& bindings) {
    const Node& node = (*this)[value];
    switch (pattern.kind) {
      case Pattern::Kind::Apply:
        return matches(pattern, node, bindings);
      case Pattern::Kind::Number:
        return is_splat(node) && splat_value(node).as_double() == pattern.number;
      case Pattern::Kind::Variable:
        break;
    }
    Value& bound = bindings[pattern.variable - 'a'];
    if (bound.valid()) return bound == value;
    bound = value;
    if (pattern.variable == 'c') return is_splat(node);
    if (pattern.variable == 'v') return node.kind != Kind::Constant;
    return pattern.variable != 'p' || is_power_of_two(node);
  }

  // Whose reciprocal is exact, too.
  static bool is_power_of_two(const Node& node) {
    if (!is_splat(node) || node.dtype != DType::F32) return false;
    int exponent = 0;
    const float mantissa = std::frexp(splat_value(node).f, &exponent);
    return std::fabs(mantissa) == 0.5f && exponent > -120 && exponent < 120;
  }

  Value build(const Pattern& pattern, const Node& root, const Bindings& bindings) {
    if (pattern.kind == Pattern::Kind::Variable) return bindings[pattern.variable - 'a'];
    if (pattern.kind == Pattern::Kind::Number) {
      return splat(Number::from(root.dtype, pattern.number), root.shape);
    }
    Node node{.kind = Kind::Map, .dtype = root.dtype, .shape = root.shape, .op = pattern.op};
    bool constant = true;
    std::array<Number, scalar::kMaxArity> numbers;
    for (size_t i = 0; i < pattern.operands.size(); ++i) {
      node.operands.push_back(build(pattern.operands[i], root, bindings));
      const Node& operand = (*this)[node.operands.back()];
      constant = constant && is_splat(operand);
      if (constant) numbers[i] = splat_value(operand);
    }
    if (constant) return splat(scalar::evaluate(pattern.op, numbers.data()), root.shape);
    return add(std::move(node));
  }

  // op(x[m], y[m], constant) -> op(x, y, constant)[m]: the operation runs before the repetition.
  std::optional<Value> map_of_reindex(const Node& node) {
    const Node* shared = nullptr;
    for (Value value : node.operands) {
      const Node& operand = (*this)[value];
      if (is_splat(operand)) continue;
      if (operand.kind != Kind::Reindex) return std::nullopt;
      if (shared == nullptr) shared = &operand;
      if (operand.map != shared->map ||
          (*this)[operand.operands[0]].shape != (*this)[shared->operands[0]].shape) {
        return std::nullopt;
      }
    }
    if (shared == nullptr) return std::nullopt;
    const Shape inner = (*this)[shared->operands[0]].shape;
    if (graph::element_count(inner) >= graph::element_count(node.shape)) return std::nullopt;
    if (!always_inside(shared->map, node.shape, inner)) return std::nullopt;
    const AffineMap map = shared->map;
    Node small{.kind = Kind::Map, .dtype = node.dtype, .shape = inner, .op = node.op};
    for (Value value : node.operands) {
      const bool constant = is_splat((*this)[value]);
      small.operands.push_back(constant ? splat(splat_value((*this)[value]), inner)
                                        : (*this)[value].operands[0]);
    }
    return Rewriter::reindex(add(std::move(small)), map, node.shape);
  }

  std::optional<Value> cast(const Node& node) {
    const Node& operand = (*this)[node.operands[0]];
    if (operand.dtype == node.dtype) return node.operands[0];
    // What is 0 or 1 is so in every type.
    if (operand.kind != Kind::Cast || (*this)[operand.operands[0]].dtype != DType::Bool) {
      return std::nullopt;
    }
    Node direct = node;
    direct.operands = operand.operands;
    return add(std::move(direct));
  }

  std::optional<Value> reduce(const Node& node) {
    const Shape& shape = (*this)[node.operands[0]].shape;
    const bool single =
        std::all_of(node.axes.begin(), node.axes.end(), [&](int axis) { return shape[axis] == 1; });
    if (!single) return std::nullopt;
    return Rewriter::reshape(node.operands[0], node.shape);
  }

  std::optional<Value> reshape(const Node& node) {
    const Node& operand = (*this)[node.operands[0]];
    if (operand.shape == node.shape) return node.operands[0];
    if (operand.kind != Kind::Reshape) return std::nullopt;
    return Rewriter::reshape(operand.operands[0], node.shape);
  }

  std::optional<Value> reindex(const Node& node) {
    const Node& operand = (*this)[node.operands[0]];
    const int rank = static_cast<int>(node.shape.size());
    std::vector<int> all(rank);
    std::iota(all.begin(), all.end(), 0);
    if (operand.shape == node.shape && node.map == AffineMap::project(rank, all)) {
      return node.operands[0];
    }
    if (operand.kind != Kind::Reindex) return std::nullopt;
    if (!always_inside(node.map, node.shape, operand.shape)) return std::nullopt;
    return Rewriter::reindex(operand.operands[0], compose(operand.map, node.map, rank), node.shape);
  }

  std::optional<Value> contract(const Node& node) {
    const int rank = static_cast<int>(node.contraction.extents.size());
    AffineMap graph::Contraction::*const maps[] = {&graph::Contraction::lhs,
                                                   &graph::Contraction::rhs};
    for (int side = 0; side < 2; ++side) {
      const Node& operand = (*this)[node.operands[side]];
      const AffineMap& map = node.contraction.*maps[side];
      if (operand.kind != Kind::Reindex || !operand.map.is_projection() ||
          operand.map.axes.size() != operand.shape.size() ||
          !always_inside(map, node.contraction.extents, operand.shape)) {
        continue;
      }
      Node direct = node;
      direct.operands[side] = operand.operands[0];
      direct.contraction.*maps[side] = compose(operand.map, map, rank);
      return add(std::move(direct));
    }
    return std::nullopt;
  }
};

}  // namespace

Graph simplify_algebra(Graph graph) { return Simplifier().run(std::move(graph)); }

}  // namespace lathe::opt
