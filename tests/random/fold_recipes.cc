// Recipes of operations along axes: reductions, running folds, orders, products, normalizations.
#include <algorithm>

#include "graph_generator.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/nn/losses.h"
#include "lathe/ops/nn/norm.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::random_tests {

namespace {

using graph::Affine;
using graph::AffineMap;
using Fold = Tensor (*)(Tensor x, const ops::Axes& axes, bool keepdims);

ops::Axes axes_of(GraphGenerator& g, Tensor x) {
  if (g.rng.chance(15)) return std::nullopt;
  return g.rng.axes(x.rank());
}

template <Fold fold>
void reduce(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  g.add(fold(x, axes_of(g, x), g.rng.chance(30)));
}

template <Fold fold>
void reduce_bools(GraphGenerator& g) {
  Tensor x = g.bools();
  if (x.rank() > 0) g.add(fold(x, axes_of(g, x), g.rng.chance(30)));
}

void product(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  // Away from zero, where the gradient divides by it.
  g.add(g.tame(ops::reduce_prod(tanh(g.positive(x)), axes_of(g, x), g.rng.chance(30))));
}

int axis_of(GraphGenerator& g, Tensor x) {
  return static_cast<int>(g.rng.from(-x.rank(), x.rank() - 1));
}

void scan(GraphGenerator& g) {
  static constexpr std::array<Op, 3> kOps = {Op::Add, Op::Max, Op::Min};
  const Tensor x = g.floats(1);
  const Tensor result =
      g.b.scan(g.rng.of(kOps), x, static_cast<int>(g.rng.below(x.rank())), false, g.rng.chance(50));
  g.add(g.tame(result));
}

void matmul(GraphGenerator& g) {
  const Tensor x = g.floats(2);
  const bool transpose_x = g.rng.chance(25), transpose_y = g.rng.chance(25);
  const size_t rank = x.shape().size();
  const int64_t depth = x.shape()[transpose_x ? rank - 2 : rank - 1], columns = g.rng.size();
  Shape shape = x.shape();
  shape[rank - 2] = transpose_y ? columns : depth;
  shape[rank - 1] = transpose_y ? depth : columns;
  for (size_t k = 0; k + 2 < rank; ++k) {
    if (g.rng.chance(20)) shape[k] = 1;
  }
  if (g.rng.chance(30)) shape.erase(shape.begin(), shape.end() - 2);
  if (graph::element_count(shape) > kMaxElements) return;
  g.add(g.tame(ops::mat_mul(x, g.input(shape), transpose_x, transpose_y)));
}

// Sums of products over any indices of both, possibly out of range.
void contract(GraphGenerator& g) {
  const auto rank = static_cast<int>(g.rng.from(2, 4));
  graph::Contraction c;
  c.extents = g.rng.shape(rank, 8000, false);
  const std::vector<int> order = g.rng.permutation(rank);
  const auto outputs = g.rng.from(1, rank - 1);
  c.out = AffineMap::project(rank, {order.begin(), order.begin() + outputs});
  Shape out;
  for (const Affine& axis : c.out.axes) {
    out.push_back(c.extents[static_cast<size_t>(axis.single_dimension())]);
  }
  const auto operand = [&](AffineMap& map) {
    const std::vector<int> dimensions = g.rng.axes(rank);
    map = AffineMap::project(rank, dimensions);
    Shape shape;
    for (Affine& axis : map.axes) {
      const auto d = static_cast<size_t>(axis.single_dimension());
      const int64_t step = g.rng.chance(75) ? 1 : 2;
      axis.coefficients[d] = step;
      axis.offset = g.rng.chance(70) ? 0 : g.rng.from(-2, 1);
      shape.push_back(std::max<int64_t>(1, (c.extents[d] - 1) * step + 1 - g.rng.below(2)));
      if (g.rng.chance(20)) {
        // A window over two dimensions.
        const auto other = static_cast<size_t>(g.rng.below(rank));
        axis.coefficients[other] += 1;
        shape.back() += c.extents[other] - 1;
      }
    }
    return g.input(std::move(shape));
  };
  const Tensor lhs = operand(c.lhs), rhs = operand(c.rhs);
  g.add(g.tame(g.b.contract(lhs, rhs, c, out)));
}

void batch_norm(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  const Shape channels{x.shape().back()};
  const ops::Moments statistics{g.input(channels), g.positive(g.input(channels))};
  g.add(ops::batch_norm(x, statistics, g.input(channels), g.input(channels), 0.001f));
}

void layer_norm(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  const Shape channels{x.shape().back()};
  g.add(ops::layer_norm(x, g.input(channels), g.input(channels), 0.01f));
}

// Rows minus or times a reduction over all of them; the reduction is a result, too.
void rows(GraphGenerator& g) {
  const Tensor x = g.floats(1);
  std::vector<int> axes;
  for (auto axis = static_cast<int>(g.rng.below(x.rank())); axis < x.rank(); ++axis) {
    axes.push_back(axis);
  }
  const Tensor operand = g.rng.chance(50) ? x : x * x;
  const Tensor row = g.rng.chance(50) ? mean(operand, axes, true) : max(operand, axes, true);
  if (g.rng.chance(30)) g.add(row);
  const Tensor centered = g.rng.chance(50) ? x - row : x * tanh(row);
  g.add(g.rng.chance(50) ? centered : sigmoid(centered) * g.partner(x));
}

// Some indices, or more than there are.
void non_zero(GraphGenerator& g) {
  const Tensor x = g.ints();
  g.add(ops::non_zero(x, static_cast<int>(g.rng.below(graph::element_count(x.shape()) + 3))));
}

constexpr Recipe kFoldRecipes[] = {
    {"nonZero", non_zero},
    {"sum", reduce<ops::reduce_sum>, 4},
    {"mean", reduce<ops::reduce_mean>, 4},
    {"prod", product},
    {"max", reduce<ops::reduce_max>, 3},
    {"min", reduce<ops::reduce_min>},
    {"all", reduce_bools<ops::reduce_all>},
    {"any", reduce_bools<ops::reduce_any>},
    {"logSumExp", reduce<ops::log_sum_exp>},
    {"argMax",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(ops::argmax(x, axis_of(g, x)));
     }},
    {"argMin",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(ops::argmin(x, axis_of(g, x)));
     }},
    {"softmax",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(ops::softmax(x, axis_of(g, x)));
     }},
    {"logSoftmax",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(ops::log_softmax(x, axis_of(g, x)));
     }},
    {"sort",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(ops::sort(x, axis_of(g, x), g.rng.chance(50)));
     }},
    {"argsort",
     [](GraphGenerator& g) {
       const Tensor x = g.rng.chance(70) ? g.floats(1) : g.ints(1);
       g.add(ops::argsort(x, axis_of(g, x), g.rng.chance(50)));
     }},
    {"topkIndices",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(ops::topk_indices(x, static_cast<int>(g.rng.from(1, 5))));
     }},
    {"cumsum",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(g.tame(ops::cumsum(x, axis_of(g, x), g.rng.chance(50), g.rng.chance(50))));
     }},
    {"cumprod",
     [](GraphGenerator& g) {
       const Tensor x = g.floats(1);
       g.add(ops::cumprod(tanh(g.positive(x)), axis_of(g, x), g.rng.chance(50), g.rng.chance(50)));
     }},
    {"scan", scan},
    {"matMul", matmul},
    {"contract", contract, 2},
    {"batchNorm", batch_norm},
    {"layer norm", layer_norm},
    {"rows", rows, 3},
};

}  // namespace

std::span<const Recipe> fold_recipes() { return kFoldRecipes; }

}  // namespace lathe::random_tests
