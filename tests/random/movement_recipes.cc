// Recipes of operations that move elements: views, pads, joins, gathers, scatters.
#include <algorithm>

#include "graph_generator.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::random_tests {

namespace {

using graph::Affine;
using graph::AffineMap;
using ops::Pairs;

void reshape(GraphGenerator& g) {
  const Tensor x = g.any();
  // Another shape: some axes merged, others split.
  Shape shape{1};
  for (const int64_t size : x.shape()) {
    if (g.rng.chance(50)) {
      shape.back() *= size;
    } else if (size % 2 == 0 && g.rng.chance(40)) {
      shape.insert(shape.end(), {size / 2, 2});
    } else {
      shape.push_back(size);
    }
  }
  g.add(ops::reshape(x, std::move(shape)));
}

void pad(GraphGenerator& g) {
  const Tensor x = g.any(1);
  Pairs pairs;
  for (const int64_t size : x.shape()) {
    // Negative ones crop.
    const auto amount = [&] {
      return g.rng.chance(45) ? 0 : g.rng.chance(75) ? g.rng.from(1, 3) : -g.rng.below(2);
    };
    const int64_t before = amount(), after = amount();
    pairs.push_back(size + before + after < 0 ? std::pair<int64_t, int64_t>{0, 0}
                                              : std::pair{before, after});
  }
  g.add(ops::pad(x, pairs, g.rng.chance(70) ? 0.0f : 1.0f));
}

void slice(GraphGenerator& g) {
  const Tensor x = g.any(1);
  Shape begin, size;
  for (const int64_t extent : x.shape()) {
    begin.push_back(g.rng.chance(50) ? 0 : g.rng.below(extent + 1));
    size.push_back(g.rng.chance(40) ? -1
                                    : g.rng.from(std::min<int64_t>(1, extent - begin.back()),
                                                 extent - begin.back()));
  }
  g.add(ops::slice(x, begin, size));
}

// Steps, shifts and reversals along every axis that may leave x, the axes in any order.
void affine(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  const int rank = x.rank();
  const std::vector<int> order = g.rng.permutation(rank);
  AffineMap map;
  Shape shape(x.shape().size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto d = static_cast<size_t>(order[axis]);
    const int64_t size = x.shape()[axis], step = g.rng.chance(70) ? 1 : g.rng.from(2, 3);
    Affine each{std::vector<int64_t>(shape.size()), g.rng.from(-2, 2)};
    each.coefficients[d] = step;
    shape[d] = std::max<int64_t>(0, (size + step - 1) / step + g.rng.from(-1, 2));
    if (g.rng.chance(20)) {
      each.coefficients[d] = -step;
      each.offset = size - 1 + g.rng.from(-1, 1);
    } else if (g.rng.chance(15)) {
      each.coefficients[d] = 0;
      each.offset = 0;
    }
    map.axes.push_back(std::move(each));
  }
  g.add(g.b.reindex(x, std::move(map), std::move(shape)));
}

void concat_or_stack(GraphGenerator& g, bool stacks) {
  const Tensor x = g.any(1);
  std::vector<Tensor> parts{x};
  const auto axis = static_cast<int>(g.rng.from(-x.rank(), x.rank() - 1));
  const auto at = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  for (int64_t count = g.rng.from(0, 2); count > 0; --count) {
    Shape shape = x.shape();
    if (!stacks && g.rng.chance(50)) shape[at] = g.rng.size(9);
    parts.push_back(shape == x.shape() ? g.same_shape(x) : g.input(shape, x.dtype()));
  }
  if (g.rng.chance(50)) std::ranges::reverse(parts);
  g.add(stacks ? ops::stack(parts, axis) : ops::concatenate(parts, axis));
}

// Elements of several tensors in turns.
void interleave(GraphGenerator& g) {
  const Tensor x = g.floats(1), y = g.same_shape(x);
  const auto rank = static_cast<int>(x.rank());
  const auto at = static_cast<size_t>(g.rng.below(rank));
  std::vector<int> all(x.shape().size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
  const int64_t begin = g.rng.below(2);
  AffineMap first = AffineMap::project(rank, all);
  first.axes[at].coefficients[at] = 2;
  first.axes[at].offset = begin;
  AffineMap second = first;
  second.axes[at].offset = begin + 1;
  Shape shape = x.shape();
  shape[at] = 2 * shape[at] + begin + g.rng.below(2);
  const Tensor parts[] = {x, y};
  g.add(g.b.join(parts, {first, second}, shape));
}

// I32 of this shape, some outside what they index.
Tensor indices(GraphGenerator& g, Shape shape) {
  if (g.rng.chance(30)) {
    return g.b.cast(g.input(std::move(shape)) * 3.0f, DType::I32);
  }
  return g.input(std::move(shape), DType::I32);
}

void gathered_along(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  const auto at = static_cast<size_t>(g.rng.below(x.rank()));
  Shape shape = x.shape();
  if (g.rng.chance(50)) shape[at] = g.rng.size(12);
  g.add(ops::take_along_axis(x, indices(g, std::move(shape)), static_cast<int>(at)));
}

void scatter(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  const auto at = static_cast<size_t>(g.rng.below(x.rank()));
  const Tensor index = indices(g, x.shape());
  Shape shape = x.shape();
  shape[at] = g.rng.size(12, false);
  g.add(g.tame(g.b.scatter(x, index, static_cast<int>(at), shape)));
}

void broadcast(GraphGenerator& g) {
  Tensor x = g.any();
  Shape shape = x.shape();
  for (int64_t& size : shape) {
    if (size == 1) size = g.rng.size(9);
  }
  if (g.rng.chance(60)) shape.insert(shape.begin(), g.rng.size(9));
  g.add(ops::broadcast_to(x, shape));
}

constexpr Recipe kMovementRecipes[] = {
    {"reshape", reshape},
    {"flatten", [](GraphGenerator& g) { g.add(ops::flatten(g.any())); }},
    {"expandDims",
     [](GraphGenerator& g) {
       const Tensor x = g.any();
       g.add(ops::expand_dims(x, static_cast<int>(g.rng.from(-x.rank() - 1, x.rank()))));
     }},
    {"squeeze", [](GraphGenerator& g) { g.add(ops::squeeze(g.any(), std::nullopt)); }},
    {"transpose",
     [](GraphGenerator& g) {
       const Tensor x = g.any(1);
       if (g.rng.chance(50)) return g.add(ops::transpose(x, std::nullopt));
       g.add(ops::transpose(x, g.rng.permutation(x.rank())));
     }},
    {"broadcastTo", broadcast},
    {"tile",
     [](GraphGenerator& g) {
       const Tensor x = g.any(1);
       Shape repetitions;
       for (int i = 0; i < x.rank(); ++i) repetitions.push_back(g.rng.from(1, 3));
       g.add(ops::tile(x, repetitions));
     }},
    {"slice", slice},
    {"reverse",
     [](GraphGenerator& g) {
       const Tensor x = g.any(1);
       g.add(ops::reverse(x, g.rng.axes(x.rank())));
     }},
    {"pad", pad, 6},
    {"affine", affine, 4},
    {"concat", [](GraphGenerator& g) { concat_or_stack(g, false); }},
    {"stack", [](GraphGenerator& g) { concat_or_stack(g, true); }},
    {"interleave", interleave},
    {"gather",
     [](GraphGenerator& g) {
       const Tensor x = g.any(1);
       const auto axis = static_cast<int>(g.rng.below(x.rank()));
       g.add(ops::gather(x, indices(g, g.rng.shape(static_cast<int>(g.rng.from(1, 2)), 40)), axis));
     }},
    {"takeAlongAxis", gathered_along},
    {"scatter", scatter},
    {"iota",
     [](GraphGenerator& g) {
       const Shape shape = g.rng.shape(static_cast<int>(g.rng.from(1, 3)), 200);
       const auto axis = static_cast<int>(g.rng.below(static_cast<int64_t>(shape.size())));
       g.add(g.b.iota(shape, axis));
     }},
};

}  // namespace

std::span<const Recipe> movement_recipes() { return kMovementRecipes; }

}  // namespace lathe::random_tests
