// Random contractions that scatter: values stay, and strides, dilations, slices and flips of one or
// two axes all become gathers.
#include "lathe/opt/gather_outputs.h"

#include <gtest/gtest.h>

#include "lathe/graph/builder.h"
#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
#include "random_graph.h"

namespace lathe::opt {
namespace {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::RandomGraph;
using graph::Shape;
using graph::Tensor;

// y[.., s i + t k + offset, ..] += x[i.., c] * w[k.., c] for one or two axes; `one` instead of w
// and without dimensions k where `plain`.
Graph scatter(RandomGraph& random, bool plain) {
  Builder builder("t");
  const int axes = 1 + random.below(2);
  const int rank = plain ? axes + 1 : 2 * axes + 1;
  Contraction c;
  std::vector<int> x_dimensions, w_dimensions;
  Shape x, w, y;
  for (int i = 0; i < axes; ++i) {
    Affine affine{std::vector<int64_t>(static_cast<size_t>(rank)), random.below(5) - 2};
    x.push_back(1 + random.below(5));
    c.extents.push_back(x.back());
    x_dimensions.push_back(i);
    affine.coefficients[static_cast<size_t>(i)] = random.below(4);
    if (random.below(4) == 0) affine.coefficients[static_cast<size_t>(i)] *= -1;
    if (!plain) affine.coefficients[static_cast<size_t>(axes + i)] = 1;
    if (plain && random.below(3) == 0) affine.offset = 4;
    c.out.axes.push_back(std::move(affine));
    y.push_back(1 + random.below(9));
  }
  for (int i = 0; i < axes && !plain; ++i) {
    w.push_back(1 + random.below(4));
    c.extents.push_back(w.back());
    w_dimensions.push_back(axes + i);
  }
  c.extents.push_back(3);
  x.push_back(3);
  x_dimensions.push_back(rank - 1);
  c.lhs = AffineMap::project(rank, x_dimensions);
  if (!plain) {
    w.push_back(3);
    w_dimensions.push_back(rank - 1);
  }
  c.rhs = AffineMap::project(rank, w_dimensions);
  const Tensor left = builder.input("x", DType::F32, x);
  const Tensor right = plain ? builder.scalar(0.5f) : builder.input("w", DType::F32, w);
  builder.output("y", builder.contract(left, right, c, y));
  return *std::move(builder).finish();
}

bool scatters(const Graph& graph) {
  for (const graph::Node& node : graph.nodes) {
    if (node.kind == Kind::Contract && !node.contraction.out.is_projection()) return true;
  }
  return false;
}

TEST(GatherOutputs, PreservesValuesOfRandomScatters) {
  int scattering = 0, remaining = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    RandomGraph random(seed);
    const Graph before = scatter(random, seed % 3 == 0);
    const Graph after = gather_outputs(before);
    const Status sound = graph::verify(after);
    ASSERT_TRUE(sound) << sound.error().message << graph::print(before) << graph::print(after);
    const auto inputs = random.values(before, Kind::Input);
    std::map<std::string, graph::Array> states;
    const auto expected = *graph::evaluate(before, inputs, states);
    const auto got = *graph::evaluate(after, inputs, states);
    ASSERT_EQ(graph::difference(expected, got, 1e-5), "")
        << graph::print(before) << graph::print(after);
    scattering += scatters(before);
    remaining += scatters(after);
  }
  EXPECT_GT(scattering, 1000);
  EXPECT_EQ(remaining, 0);
}

}  // namespace
}  // namespace lathe::opt
