#include "lathe/opt/gather_outputs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "lathe/base/insert.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/rewriter.h"

namespace lathe::opt {

using graph::Affine;
using graph::AffineMap;
using graph::Contraction;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;

namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Affine dimension(size_t rank, size_t d, int64_t coefficient = 1, int64_t offset = 0) {
  Affine affine{std::vector<int64_t>(rank, 0), offset};
  affine.coefficients[d] = coefficient;
  return affine;
}

AffineMap identity(size_t rank) {
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  return AffineMap::project(static_cast<int>(rank), all);
}

// Solves the axes of the output one by one. The result is smaller than the output: phases that it
// does not compute are zeros, position and phase of a stride are two axes, and axis h of the output
// is position h + shift, zero outside.
class Solver {
 public:
  Solver(const Node& contract, const Shape& lhs, const Shape& rhs)
      : contraction(contract.contraction), output_shape_(contract.shape), lhs_(lhs), rhs_(rhs) {}

  // False where some axis has no solution; then nothing here may be used.
  bool run() {
    for (size_t h = 0; h < output_shape_.size(); ++h) {
      if (!solve(output_shape_[h])) return false;
    }
    return true;
  }

  Shape gathered() const {
    Shape shape;
    for (const Affine& axis : contraction.out.axes) {
      shape.push_back(extent(static_cast<size_t>(axis.single_dimension())));
    }
    return shape;
  }

  Contraction contraction;
  Shape phases;  // as gathered, with every phase
  Shape merged;  // position and phase as one axis
  std::vector<int64_t> shifts;

 private:
  int64_t extent(size_t d) const { return contraction.extents[d]; }
  size_t rank() const { return contraction.extents.size(); }
  Affine& axis() { return contraction.out.axes[at_]; }

  size_t add_dimension(int64_t size) {
    contraction.extents.push_back(size);
    for (AffineMap* map : {&contraction.out, &contraction.lhs, &contraction.rhs}) {
      for (Affine& affine : map->axes) affine.coefficients.push_back(0);
    }
    return rank() - 1;
  }

  void substitute(const AffineMap& inner) {
    for (AffineMap* map : {&contraction.out, &contraction.lhs, &contraction.rhs}) {
      *map = compose(*map, inner, static_cast<int>(rank()));
    }
  }

  void reverse(size_t d) {
    AffineMap inner = identity(rank());
    inner.axes[d] = dimension(rank(), d, -1, extent(d) - 1);
    substitute(inner);
  }

  // No other axis of the output depends on d.
  bool is_free(size_t d) const {
    const std::vector<Affine>& axes = contraction.out.axes;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (i != at_ && axes[i].coefficients[d] != 0) return false;
    }
    return true;
  }

  // An operand has no elements for values of d outside its extent.
  bool is_covered(size_t d) const {
    const auto covers = [&](const AffineMap& map, const Shape& shape) {
      for (size_t i = 0; i < shape.size(); ++i) {
        const Affine& affine = map.axes[i];
        const bool same =
            affine == dimension(rank(), d) || affine == dimension(rank(), d, -1, extent(d) - 1);
        if (same && shape[i] == extent(d)) return true;
      }
      return false;
    };
    return covers(contraction.lhs, lhs_) || covers(contraction.rhs, rhs_);
  }

  // Appends an axis that is dimension d; the phases of its stride follow.
  void finish(size_t d, int64_t shift) {
    axis() = dimension(rank(), d);
    ++at_;
    phases.push_back(extent(d));
    merged.push_back(extent(d));
    shifts.push_back(shift);
  }

  bool solve(int64_t size) {
    std::vector<size_t> moving;
    for (size_t d = 0; d < rank(); ++d) {
      if (axis().coefficients[d] != 0) moving.push_back(d);
      if (axis().coefficients[d] < 0) reverse(d);
    }
    if (moving.empty()) {
      const int64_t position = axis().offset;
      finish(add_dimension(1), -position);
      return true;
    }
    const size_t i =
        *std::ranges::min_element(moving, {}, [&](size_t d) { return terms(d, moving); });
    const int64_t stride = axis().coefficients[i];
    std::erase(moving, i);
    if (!is_free(i)) return false;
    if (stride > 1) return solve_stride(i, moving, size);
    if (moving.empty()) {
      finish(i, -axis().offset);
      return true;
    }
    return solve_step(i, size);
  }

  // Terms of each sum once dimension i is solved for.
  int64_t terms(size_t i, const std::vector<size_t>& moving) const {
    int64_t count = 1;
    for (size_t d : moving) count *= d == i ? 1 : extent(d);
    const int64_t stride = contraction.out.axes[at_].coefficients[i];
    return (count + stride - 1) / stride;
  }

  // h = i + the rest: i becomes h - the rest.
  bool solve_step(size_t i, int64_t size) {
    if (!is_covered(i)) return false;
    AffineMap inner = identity(rank());
    Affine& form = inner.axes[i];
    for (size_t d = 0; d < rank(); ++d) form.coefficients[d] -= axis().coefficients[d];
    form.coefficients[i] = 1;
    form.offset = -axis().offset;
    substitute(inner);
    contraction.extents[i] = size;
    finish(i, 0);
    return true;
  }

  // h = stride * i + j + offset. With j = stride * t + phase, i becomes first + position - t.
  bool solve_stride(size_t i, const std::vector<size_t>& rest, int64_t size) {
    if (rest.size() > 1) return false;
    const size_t j = rest.empty() ? add_dimension(1) : rest[0];
    if (rest.empty()) axis().coefficients[j] = 1;
    if (axis().coefficients[j] != 1 || !is_free(j)) return false;
    const int64_t stride = axis().coefficients[i], offset = axis().offset;
    const int64_t phase_count = std::min(stride, extent(j));
    const int64_t steps = (extent(j) + stride - 1) / stride;
    if (steps * phase_count != extent(j) && !is_covered(j)) return false;
    if (steps > 1 && !is_covered(i)) return false;
    const int64_t first = std::max<int64_t>(0, floor_div(-offset, stride));
    const int64_t last = std::min(extent(i) + steps - 2, floor_div(size - 1 - offset, stride));

    const size_t phase = add_dimension(phase_count);
    AffineMap inner = identity(rank());
    inner.axes[i].coefficients[j] = -1;
    inner.axes[i].offset = first;
    inner.axes[j].coefficients[j] = stride;
    inner.axes[j].coefficients[phase] = 1;
    substitute(inner);
    contraction.extents[i] = std::max<int64_t>(0, last - first + 1);
    contraction.extents[j] = steps;
    finish(i, -(offset + stride * first));
    insert_at(contraction.out.axes, at_++, dimension(rank(), phase));
    phases.push_back(stride);
    merged.back() *= stride;
    return true;
  }

  const Shape output_shape_;
  const Shape &lhs_, &rhs_;
  size_t at_ = 0;  // the axis of the output to be solved next
};

class Gatherer final : public graph::Rewriter {
  Value replace(Node node) override {
    return node.kind == Kind::Contract ? contract(std::move(node)) : add(std::move(node));
  }

  // The entire output is visited, each element by separate iterations.
  static bool gathers(const Node& node) {
    const Contraction& contraction = node.contraction;
    if (!contraction.out.is_projection()) return false;
    for (size_t axis = 0; axis < node.shape.size(); ++axis) {
      const int d = contraction.out.axes[axis].single_dimension();
      if (contraction.extents[d] != node.shape[axis]) return false;
    }
    return true;
  }

  Value contract(Node node) {
    if (gathers(node) || graph::element_count(node.shape) == 0 ||
        graph::element_count(node.contraction.extents) == 0) {
      return sum_of_products(std::move(node));
    }
    const Shape lhs = graph_[node.operands[0]].shape, rhs = graph_[node.operands[1]].shape;
    Solver solver(node, lhs, rhs);
    if (!solver.run()) return add(std::move(node));
    const Shape target = std::exchange(node.shape, solver.gathered());
    node.contraction = solver.contraction;
    Value result = sum_of_products(std::move(node));
    if (graph_[result].shape != solver.phases) {
      result = reindex(result, identity(solver.phases.size()), solver.phases);
    }
    if (solver.phases != solver.merged) result = reshape(result, solver.merged);
    AffineMap positions = identity(target.size());
    for (size_t axis = 0; axis < target.size(); ++axis) {
      positions.axes[axis].offset = solver.shifts[axis];
    }
    if (solver.merged == target && positions == identity(target.size())) return result;
    return reindex(result, std::move(positions), target);
  }

  // As a sum over a view where one factor is the same number everywhere.
  Value sum_of_products(Node node) {
    const Contraction& c = node.contraction;
    const std::array<const AffineMap*, 2> maps = {&c.lhs, &c.rhs};
    for (size_t side = 0; side < 2; ++side) {
      const Node& factor = graph_[node.operands[side]];
      if (!gathers(node) || !is_splat(factor) ||
          !always_inside(*maps[side], c.extents, factor.shape)) {
        continue;
      }
      const scalar::Number number = splat_value(factor);
      const Value sum = sum_of_view(node, node.operands[1 - side], *maps[1 - side]);
      if (number.as_double() == 1) return sum;
      return map(graph::Op::Mul, {sum, splat(scalar::cast(number, node.dtype), node.shape)});
    }
    return add(std::move(node));
  }

  // The iteration space with the dimensions of the output in front, the others summed.
  Value sum_of_view(const Node& node, Value operand, const AffineMap& map) {
    const Contraction& c = node.contraction;
    const size_t rank = c.extents.size();
    std::vector<size_t> order;
    std::vector<int> summed;
    for (const Affine& axis : c.out.axes) {
      order.push_back(static_cast<size_t>(axis.single_dimension()));
    }
    for (size_t d = 0; d < rank; ++d) {
      if (c.extents[d] == 1 || std::ranges::find(order, d) != order.end()) continue;
      summed.push_back(static_cast<int>(order.size()));
      order.push_back(d);
    }
    Shape shape;
    AffineMap positions{std::vector<Affine>(rank, {std::vector<int64_t>(order.size()), 0})};
    for (size_t i = 0; i < order.size(); ++i) {
      shape.push_back(c.extents[order[i]]);
      positions.axes[order[i]].coefficients[i] = 1;
    }
    positions = compose(map, positions, static_cast<int>(order.size()));
    Value all = reindex(operand, std::move(positions), std::move(shape));
    if (const Node& view = (*this)[all]; view.dtype != node.dtype) {
      all = add({.kind = Kind::Cast, .dtype = node.dtype, .shape = view.shape, .operands = {all}});
    }
    if (summed.empty()) return all;
    Node sum{.kind = Kind::Reduce,
             .dtype = node.dtype,
             .shape = node.shape,
             .operands = {all},
             .op = graph::Op::Add};
    sum.axes = std::move(summed);
    return add(std::move(sum));
  }
};

}  // namespace

Graph gather_outputs(Graph graph) { return Gatherer().run(std::move(graph)); }

}  // namespace lathe::opt
