#include "lathe/lower/cpu/pad_operands.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "lathe/graph/rewriter.h"
#include "lathe/lower/narrow_loads.h"

namespace lathe::lower::cpu {

using graph::AffineMap;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Value;

namespace {

// A copy that is read less often than this costs more than the tests it saves.
constexpr int64_t kFewestReads = 2;

// The numbers of zeros before and after every axis.
struct Margins {
  Shape before, after;
  bool operator==(const Margins&) const = default;

  bool none() const {
    const auto zero = [](int64_t size) { return size == 0; };
    return std::ranges::all_of(before, zero) && std::ranges::all_of(after, zero);
  }
};

// How far the map leaves a tensor of this shape.
Margins margins_of(const AffineMap& map, const Shape& extents, const Shape& shape) {
  Margins margins;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t lowest = map.axes[axis].offset, highest = lowest;
    for (size_t d = 0; d < extents.size(); ++d) {
      const int64_t reach = map.axes[axis].coefficients[d] * (extents[d] - 1);
      (reach < 0 ? lowest : highest) += reach;
    }
    margins.before.push_back(std::max<int64_t>(0, -lowest));
    margins.after.push_back(std::max<int64_t>(0, highest - shape[axis] + 1));
  }
  return margins;
}

class Padder final : public graph::Rewriter {
  Value replace(Node node) override {
    if (node.kind == Kind::Contract) pad(node);
    return add(std::move(node));
  }

  void pad(Node& contract) {
    const Shape& extents = contract.contraction.extents;
    AffineMap* const maps[] = {&contract.contraction.lhs, &contract.contraction.rhs};
    for (size_t side = 0; side < 2; ++side) {
      const Shape& shape = graph_[contract.operands[side]].shape;
      const Margins margins = margins_of(*maps[side], extents, shape);
      const int64_t points = graph::element_count(extents);
      if (margins.none() || points == 0) continue;
      if (points < kFewestReads * graph::element_count(padded(shape, margins))) continue;
      contract.operands[side] = padded(contract.operands[side], margins);
      for (size_t axis = 0; axis < margins.before.size(); ++axis) {
        maps[side]->axes[axis].offset += margins.before[axis];
      }
    }
  }

  struct Copy {
    Value of, copy;
    Margins margins;
  };

  static Shape padded(Shape shape, const Margins& margins) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      shape[axis] += margins.before[axis] + margins.after[axis];
    }
    return shape;
  }

  // Numbers are copied as they are stored, before they get longer: zero stays zero.
  Value padded(Value operand, const Margins& margins) {
    if (!only_widens(graph_, operand)) return copy(operand, margins);
    Node cast = graph_[operand];
    cast.operands[0] = copy(cast.operands[0], margins);
    cast.shape = graph_[cast.operands[0]].shape;
    return add(std::move(cast));
  }

  Value copy(Value operand, const Margins& margins) {
    for (const Copy& existing : copies_) {
      if (existing.of == operand && existing.margins == margins) return existing.copy;
    }
    const Node& from = graph_[operand];
    std::vector<int> all(from.shape.size());
    std::iota(all.begin(), all.end(), 0);
    AffineMap map = AffineMap::project(static_cast<int>(all.size()), all);
    for (size_t axis = 0; axis < all.size(); ++axis) {
      map.axes[axis].offset = -margins.before[axis];
    }
    const Value result = reindex(operand, std::move(map), padded(from.shape, margins));
    copies_.push_back({operand, result, margins});
    return copies_.back().copy;
  }

  std::vector<Copy> copies_;
};

}  // namespace

Graph pad_operands(Graph graph) { return Padder().run(std::move(graph)); }

}  // namespace lathe::lower::cpu
