#include "oracle_moves.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lathe/graph/elements.h"

namespace lathe::random_tests {

using graph::Node;
using graph::Odometer;

std::optional<size_t> linear_index(const graph::AffineMap& map, const Shape& shape,
                                   const Index& index) {
  int64_t at = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t i = map.axes[axis].at(index);
    if (i < 0 || i >= shape[axis]) return std::nullopt;
    at = at * shape[axis] + i;
  }
  return static_cast<size_t>(at);
}

size_t linear_index_along(const Shape& shape, Index index, int axis, int64_t along) {
  const auto a = static_cast<size_t>(axis);
  index[a] = std::clamp<int64_t>(along, 0, shape[a] - 1);
  int64_t at = 0;
  for (size_t k = 0; k < shape.size(); ++k) at = at * shape[k] + index[k];
  return static_cast<size_t>(at);
}

void sort(const Node& node, const Values& x, Values& out) {
  const auto axis = static_cast<size_t>(node.axes[0]);
  Index outer = x.shape;
  const int64_t length = std::exchange(outer[axis], 1);
  for (Odometer at(outer); at.inside(); at.next()) {
    const auto element = [&](int64_t along) {
      return x.elements[linear_index_along(x.shape, at.index(), node.axes[0], along)];
    };
    std::vector<int64_t> order(static_cast<size_t>(length));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](int64_t a, int64_t b) {
      const double first = element(a).value, second = element(b).value;
      if (first == second) return a < b;
      return node.reverse ? first > second : first < second;
    });
    const auto near = [&](size_t i, size_t k) {
      const Bounded a = element(order[i]), b = element(order[k]);
      const double tolerance = a.error + b.error;
      return tolerance > 0 && !(std::fabs(a.value - b.value) > tolerance);
    };
    for (size_t i = 0; i < static_cast<size_t>(out.shape[axis]); ++i) {
      bool is_sure = true;
      for (size_t k = 0; k < order.size() && is_sure; ++k) is_sure = k == i || !near(i, k);
      out.elements[linear_index_along(out.shape, at.index(), node.axes[0],
                                      static_cast<int64_t>(i))] =
          is_sure ? Bounded{static_cast<double>(order[i]), 0} : unknown();
    }
  }
}

void reindex(const Node& node, const Values& x, Values& out) {
  size_t i = 0;
  for (Odometer at(out.shape); at.inside(); at.next(), ++i) {
    if (const auto from = linear_index(node.map, x.shape, at.index())) {
      out.elements[i] = x.elements[*from];
    }
  }
}

void join(const Node& node, const Operands& pieces, Values& out) {
  for (size_t k = 0; k < pieces.size(); ++k) {
    size_t i = 0;
    for (Odometer at(pieces[k]->shape); at.inside(); at.next(), ++i) {
      out.elements[*linear_index(node.maps[k], out.shape, at.index())] = pieces[k]->elements[i];
    }
  }
}

void gather(const Node& node, const Values& x, const Values& index, Values& out) {
  size_t i = 0;
  for (Odometer at(out.shape); at.inside(); at.next(), ++i) {
    const Bounded where = index.elements[i];
    const auto along = static_cast<int64_t>(where.value);
    out.elements[i] = where.is_finite()
                          ? x.elements[linear_index_along(x.shape, at.index(), node.axes[0], along)]
                          : unknown();
  }
}

}  // namespace lathe::random_tests
