// Copies the graph node by node; a product by a constant is rewritten where its factors can absorb
// the constant in. It emits operations on constants only: fold_constants computes them.
#include "lathe/opt/fold_scales.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/rewriter.h"

namespace lathe::opt {

using graph::Affine;
using graph::AffineMap;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Op;
using graph::Shape;
using graph::Value;

namespace {

constexpr size_t kMaxDuplicated = 1 << 14;  // bytes of a constant that may be duplicated
constexpr int kMaxLevels = 64;              // between a product and the constants that absorb it

// Element map(i) of a constant multiplies element i of the value at hand.
struct Factor {
  Value constant;
  AffineMap map;
};

bool adds(const Node& node) {
  return node.kind == Kind::Map && (node.op == Op::Add || node.op == Op::Sub);
}

Affine zeros(size_t rank, int64_t offset) { return {std::vector<int64_t>(rank, 0), offset}; }

// Whether i[d] follows from this number.
bool determines(const Affine& affine, size_t d) {
  const auto used = std::ranges::count_if(affine.coefficients, [](int64_t c) { return c != 0; });
  return used == 1 && std::abs(affine.coefficients[d]) == 1;
}

// A map of i, inside extents, as one of j = map(i); nullopt where j does not determine it.
std::optional<AffineMap> through_map(AffineMap factor, const AffineMap& map, const Shape& extents) {
  for (Affine& form : factor.axes) {
    Affine moved = zeros(map.axes.size(), form.offset);
    for (size_t d = 0; d < extents.size(); ++d) {
      if (form.coefficients[d] == 0 || extents[d] == 1) continue;
      const auto axis =
          std::ranges::find_if(map.axes, [&](const Affine& each) { return determines(each, d); });
      if (axis == map.axes.end()) return std::nullopt;
      const int64_t step = form.coefficients[d] * axis->coefficients[d];
      moved.coefficients[axis - map.axes.begin()] += step;
      moved.offset -= step * axis->offset;
    }
    form = std::move(moved);
  }
  return factor;
}

// The same where i and j are indices of one element in two shapes. Axes are matched from the last,
// in groups of as many elements; within each a form must be a multiple of the index in the group.
std::optional<AffineMap> through_reshape(AffineMap factor, const Shape& to, const Shape& from) {
  if (graph::element_count(to) == 0) return std::nullopt;
  for (Affine& form : factor.axes) {
    Affine moved = zeros(from.size(), form.offset);
    for (size_t i = to.size(), j = from.size(); i > 0 || j > 0;) {
      const size_t end = j;
      int64_t left = 1, right = 1, multiple = 0;
      do {
        if (i > 0 && left <= right) {
          const int64_t step = form.coefficients[--i];
          if (left == 1) multiple = step;
          if (to[i] > 1 && step != multiple * left) return std::nullopt;
          left *= to[i];
        } else {
          right *= from[--j];
        }
      } while (left != right);
      int64_t unit = 1;
      for (size_t axis = end; axis-- > j;) {
        moved.coefficients[axis] = multiple * unit;
        unit *= from[axis];
      }
    }
    form = std::move(moved);
  }
  return factor;
}

// The same for an operand of the node; nothing where the node is not proportional to it.
std::optional<AffineMap> through(const AffineMap& factor, const Node& node, size_t side,
                                 const Shape& operand) {
  const graph::Contraction& c = node.contraction;
  switch (node.kind) {
    case Kind::Reindex:
      return through_map(factor, node.map, node.shape);
    case Kind::Reshape:
      return through_reshape(factor, node.shape, operand);
    case Kind::Contract:
      return through_map(compose(factor, c.out, static_cast<int>(c.extents.size())),
                         side == 0 ? c.lhs : c.rhs, c.extents);
    case Kind::Map:
      if (node.op == Op::Neg || node.op == Op::Mul || adds(node)) return factor;
      return std::nullopt;
    case Kind::Input:
    case Kind::State:
    case Kind::Constant:
    case Kind::Iota:
    case Kind::Cast:
    case Kind::Reduce:
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

class Folder final : public graph::Rewriter {
 public:
  explicit Folder(const Graph& graph) : total_uses_(graph.nodes.size()) {
    const auto use = [&](Value value) { ++total_uses_[value]; };
    for (const Node& node : graph.nodes) std::ranges::for_each(node.operands, use);
    for (const graph::Output& output : graph.outputs) use(output.value);
    for (const graph::Update& update : graph.updates) use(update.value);
  }

 private:
  Value replace(Node node) override {
    const auto value = folded(node);
    const Value result = value ? *value : add(std::move(node));
    uses_[result] = total_uses_[done_++];
    return result;
  }

  bool is_constant(Value value) const { return constant_[value.id] != 0; }

  Value add(Node node) override {
    bool constant = node.kind == Kind::Constant || !node.operands.empty();
    for (Value operand : node.operands) constant = constant && is_constant(operand);
    constant_.push_back(constant && node.kind != Kind::Loop);
    uses_.push_back(1);
    return Rewriter::add(std::move(node));
  }

  std::optional<Value> folded(Node& node) {
    if (node.kind != Kind::Map || node.dtype != graph::DType::F32) return std::nullopt;
    std::vector<Value>& operands = node.operands;
    const bool commutes = node.op == Op::Add || node.op == Op::Mul || node.op == Op::MulAdd;
    if (operands.size() < 2 || is_constant(operands[0]) == is_constant(operands[1])) {
      return std::nullopt;
    }
    if (commutes && is_constant(operands[0])) std::swap(operands[0], operands[1]);
    if (is_constant(operands[0])) return std::nullopt;
    if (adds(node)) return sum(node.op, operands[0], operands[1]);
    if (node.op != Op::Mul && node.op != Op::Div && node.op != Op::MulAdd) return std::nullopt;
    const size_t first = graph_.nodes.size();
    Factor factor = factor_of(operands[1]);
    if (node.op == Op::Div) {
      const Value one = splat(scalar::Number::of(1.0f), graph_[factor.constant].shape);
      factor.constant = map(Op::Div, {one, factor.constant});
    }
    const auto product = scaled(operands[0], factor);
    if (!product) {
      while (graph_.nodes.size() > first) graph_.nodes.pop_back();
      constant_.resize(first);
      uses_.resize(first);
      return std::nullopt;
    }
    if (node.op != Op::MulAdd) return product;
    const auto total = sum(Op::Add, *product, operands[2]);
    return total ? total : map(Op::Add, {*product, operands[2]});
  }

  // (v + b) ± t -> v + (b ± t), (v - b) ± t -> v - (b ∓ t), where v is a sum of products.
  std::optional<Value> sum(Op op, Value value, Value addend) {
    const Node& inner = graph_[value];
    if (!adds(inner)) return std::nullopt;
    const Value products = inner.operands[0], before = inner.operands[1];
    if (uses_[value] != 1 || !is_constant(before) || !is_constant(addend) ||
        !sums_products(products)) {
      return std::nullopt;
    }
    const Op outer = inner.op;
    return map(outer, {products, map(outer == op ? Op::Add : Op::Sub, {before, addend})});
  }

  bool sums_products(Value value) const {
    while (graph_[value].kind == Kind::Reshape || graph_[value].kind == Kind::Reindex) {
      value = graph_[value].operands[0];
    }
    return graph_[value].kind == Kind::Contract;
  }

  Factor factor_of(Value constant) {
    const Node& node = graph_[constant];
    if (is_splat(node)) return {splat(splat_value(node), {}), {}};
    if (node.kind == Kind::Reindex) return {node.operands[0], node.map};
    std::vector<int> all(node.shape.size());
    std::iota(all.begin(), all.end(), 0);
    return {constant, AffineMap::project(static_cast<int>(all.size()), all)};
  }

  Value product(Value value, const Factor& factor) {
    return map(Op::Mul, {value, reindex(factor.constant, factor.map, graph_[value].shape)});
  }

  // The value times the factor, absorbed by constants that it is computed from; nullopt where they
  // cannot.
  std::optional<Value> scaled(Value value, const Factor& factor, int level = 0) {
    const int uses = uses_[value];
    if (graph_[value].kind == Kind::Constant) {
      if (uses > 1 && graph_[value].data.size() > kMaxDuplicated) return std::nullopt;
      if (is_splat(graph_[value]) && !factor.map.axes.empty()) return std::nullopt;
      return product(value, factor);
    }
    if (graph_[value].operands.empty() || (uses > 1 && !is_constant(value))) return std::nullopt;
    if (level == kMaxLevels) return std::nullopt;
    Node node = graph_[value];
    // float16 values would be rounded once more.
    const bool is_longer =
        node.kind == Kind::Contract && std::ranges::any_of(node.operands, [&](Value operand) {
          return graph_[operand].dtype != node.dtype;
        });
    if (is_longer) return std::nullopt;
    const size_t first = node.kind == Kind::Contract && is_constant(node.operands[1]) ? 1 : 0;
    const size_t last = adds(node) ? 1 : first;
    for (size_t side = first; side <= last; ++side) {
      Value& operand = node.operands[side];
      auto map = through(factor.map, node, side, graph_[operand].shape);
      if (!map) return std::nullopt;
      const Factor moved{factor.constant, *std::move(map)};
      auto result = scaled(operand, moved, level + 1);
      if (!result && adds(node) && is_constant(operand)) result = product(operand, moved);
      if (!result) return std::nullopt;
      operand = *result;
    }
    return add(std::move(node));
  }

  Table<Value, int> total_uses_;  // uses of each node of the graph that is copied
  size_t done_ = 0;               // of them
  Table<Value, int> uses_,
      constant_;  // of each node of graph_: whether on constants it depends only
};

}  // namespace

Graph fold_scales(Graph graph) {
  Folder folder(graph);
  return folder.run(std::move(graph));
}

}  // namespace lathe::opt
