// Constants after random convolutions and products: values do not change, no product by a constant
// is left, no more than one constant is added; and where a constant cannot be absorbed, nothing
// changes.
#include "lathe/opt/fold_scales.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "lathe/graph/builder.h"
#include "lathe/graph/print.h"
#include "lathe/graph/verify.h"
#include "lathe/ops/windows/conv.h"
#include "lathe/opt/passes.h"
#include "random_graph.h"

namespace lathe::opt {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Kind;
using graph::Op;
using graph::RandomGraph;
using graph::Shape;
using graph::Tensor;

Tensor constant(RandomGraph& random, Builder& builder, Shape shape) {
  std::vector<float> numbers(static_cast<size_t>(graph::element_count(shape)));
  for (float& number : numbers) number = random.unit() + (random.below(2) == 0 ? 1.5f : -1.5f);
  const auto bytes = std::as_bytes(std::span(numbers));
  return builder.constant(DType::F32, std::move(shape), {bytes.begin(), bytes.end()});
}

int64_t size(RandomGraph& random) { return 2 + random.below(3); }

Tensor convolution(RandomGraph& random, Builder& builder) {
  const int axes = 1 + random.below(2), kind = random.below(4);
  const int64_t groups = kind == 1 ? size(random) : 1, channels = groups * size(random);
  const int64_t out = groups * size(random);
  Shape x{size(random)}, filter;
  ops::ConvOptions options{.groups = groups};
  if (random.below(2) == 0) options.window.padding = ops::Padding::Same;
  for (int i = 0; i < axes; ++i) {
    filter.push_back(size(random));
    x.push_back(filter.back() + random.below(5));
    options.window.strides.push_back(1 + random.below(3));
  }
  x.push_back(channels);
  filter.push_back(kind == 3 ? out : channels / groups);
  filter.push_back(kind == 3 ? channels : out);
  const Tensor input = builder.input("x", DType::F32, x);
  const Tensor weights = constant(random, builder, filter);
  if (kind == 2) return ops::depthwise_conv(input, weights, options.window);
  if (kind == 3) return ops::conv_transpose(input, weights, options.window);
  return ops::conv(input, weights, options);
}

// Also with the constant on the left, batches and a transposed operand.
Tensor product(RandomGraph& random, Builder& builder) {
  const bool left = random.below(3) == 0, transposed = random.below(2) == 0;
  Shape x{size(random), size(random)}, w{size(random), size(random)};
  (left ? w[1] : w[0]) = left ? x[0] : x[1];
  if (!left && transposed) std::swap(w[0], w[1]);
  if (random.below(2) == 0) x.insert(x.begin(), size(random));
  const Tensor input = builder.input("x", DType::F32, x);
  const Tensor weights = constant(random, builder, w);
  return left ? builder.matmul(weights, input) : builder.matmul(input, weights, false, transposed);
}

// A number, or a vector along the axis.
Tensor vector(RandomGraph& random, Builder& builder, Tensor like, int axis) {
  if (random.below(4) == 0) return builder.scalar(random.unit() + 2);
  Shape shape(static_cast<size_t>(like.rank() - axis), 1);
  shape[0] = like.shape()[static_cast<size_t>(axis)];
  return constant(random, builder, shape);
}

Tensor normalized(RandomGraph& random, Tensor y, int axis) {
  Builder& builder = *y.builder;
  const auto other = [&] { return vector(random, builder, y, axis); };
  for (int i = 0; i < 4; ++i) {
    switch (random.below(6)) {
      case 0:
        y = y + other();
        break;
      case 1:
        y = y - other();
        break;
      case 2:
        y = random.below(2) == 0 ? other() * y : y * other();
        break;
      case 3:
        y = y / other();
        break;
      case 4:
        y = builder.map(Op::MulAdd, std::array{y, other(), other()});
        break;
      case 5: {
        const Tensor variance = absolute(other());
        y = y * (1.0f / sqrt(variance + 0.5f));
        break;
      }
    }
  }
  return y;
}

int count(const Graph& graph, std::initializer_list<Op> ops) {
  int count = 0;
  for (const graph::Node& node : graph.nodes) {
    count += node.kind == Kind::Map && std::ranges::find(ops, node.op) != ops.end();
  }
  return count;
}

Graph optimized(Graph graph) {
  for (const Pass& pass : passes()) graph = pass.run(std::move(graph));
  return graph;
}

void expect_same(const Graph& before, const Graph& after, RandomGraph& random) {
  const Status sound = graph::verify(after);
  ASSERT_TRUE(sound) << sound.error().message << graph::print(before) << graph::print(after);
  const auto inputs = random.values(before, Kind::Input);
  std::map<std::string, graph::Array> states;
  const auto expected = *graph::evaluate(before, inputs, states);
  const auto got = *graph::evaluate(after, inputs, states);
  ASSERT_EQ(graph::difference(expected, got, 1e-4), "")
      << graph::print(before) << graph::print(after);
}

TEST(FoldScales, OperandsAbsorbConstants) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    RandomGraph random(seed);
    Builder builder("t");
    const bool convolves = random.below(2) == 0;
    Tensor y = convolves ? convolution(random, builder) : product(random, builder);
    ASSERT_TRUE(builder.ok()) << builder.message();
    const bool left = !convolves && builder.graph().nodes[2].operands[0].id == 1;
    builder.output("y", normalized(random, y, y.rank() - (left ? 2 : 1)));
    const Graph before = *std::move(builder).finish();
    const Graph folded = fold_scales(before);
    expect_same(before, folded, random);
    const Graph after = optimized(before);
    expect_same(before, after, random);
    if (HasFatalFailure()) return;
    EXPECT_EQ(count(after, {Op::Mul, Op::Div, Op::MulAdd}), 0) << seed << graph::print(after);
    EXPECT_LE(count(after, {Op::Add, Op::Sub}), 1) << seed << graph::print(after);
  }
}

TEST(FoldScales, LargeConstantsAreFolded) {
  RandomGraph random(1);
  Builder builder("t");
  const Tensor x = builder.input("x", DType::F32, {2, 120});
  const Tensor y = builder.matmul(x, constant(random, builder, {120, 50}));
  builder.output("y", (y - constant(random, builder, {50})) * constant(random, builder, {50}) * 3);
  const Graph before = *std::move(builder).finish();
  const Graph after = optimized(before);
  expect_same(before, after, random);
  EXPECT_EQ(count(after, {Op::Mul}), 0) << graph::print(after);
}

TEST(FoldScales, DoesNothingWhereConstantsCannotBeAbsorbed) {
  for (int kind = 0; kind < 7; ++kind) {
    RandomGraph random(static_cast<uint32_t>(kind));
    Builder builder("t");
    const Tensor x = builder.input("x", DType::F32, {5, 70});
    const Tensor weights =
        kind == 0 ? builder.state("w", DType::F32, {70, 64}) : constant(random, builder, {70, 64});
    Tensor y = builder.matmul(x, weights);
    if (kind == 1) builder.output("used", y);
    if (kind == 2) builder.output("used", builder.matmul(x, weights));
    if (kind == 3) y = maximum(y, zero(y));
    if (kind == 4) y = sum(y, {1}, true);
    const Tensor factor = kind == 5   ? constant(random, builder, {5, 1})
                          : kind == 6 ? builder.input("factor", DType::F32, {64})
                                      : constant(random, builder, {y.shape()[1]});
    builder.output("y", y * factor);
    const Graph before = *std::move(builder).finish();
    const Graph after = fold_scales(before);
    EXPECT_EQ(graph::print(before), graph::print(after));
    expect_same(before, after, random);
  }
}

}  // namespace
}  // namespace lathe::opt
