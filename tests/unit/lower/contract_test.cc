// Contractions of many shapes under random schedules: what they compute must be what the graph's
// evaluator computes.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "graph/builder.h"
#include "loop/print.h"
#include "lower/cpu/lower.h"
#include "lowered.h"
#include "random_graph.h"

namespace lathe::lower::cpu {
namespace {

using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;

class RandomContraction : public graph::RandomGraph {
 public:
  using RandomGraph::RandomGraph;

  // Small sizes, and those around the edges of tiles.
  int64_t size() { return below(4) == 0 ? 1 + below(3) : 1 + below(40); }

  Graph product() {
    Builder b("t");
    const int64_t rows = size(), columns = size(), depth = size();
    const bool transpose_x = below(2) == 1, transpose_y = below(2) == 1;
    Shape x = transpose_x ? Shape{depth, rows} : Shape{rows, depth};
    Shape y = transpose_y ? Shape{columns, depth} : Shape{depth, columns};
    Shape out = {rows, columns};
    if (below(3) == 0) {
      const int64_t batch = 1 + below(3);
      for (Shape* shape : {&x, &y, &out}) shape->insert(shape->begin(), batch);
    }
    const Tensor product = b.matmul(b.input("x", DType::F32, x), b.input("y", DType::F32, y),
                                    transpose_x, transpose_y);
    finish(b, product, out);
    return *std::move(b).finish();
  }

  // out[n, y, x, o] = sum of image[n, stride y + dy, stride x + dx, i] * taps[dy, dx, i, o].
  Graph convolution() {
    Builder b("t");
    const int64_t n = 1 + below(2), height = 1 + below(5), width = 1 + below(14);
    const int64_t in = 1 + below(6), out = 1 + below(14), dy = 1 + below(3), dx = 1 + below(3);
    const int64_t stride = 1 + below(2);
    Contraction c;
    c.extents = {n, height, width, out, dy, dx, in};
    c.out = AffineMap::project(7, {0, 1, 2, 3});
    c.lhs.axes = {{{1, 0, 0, 0, 0, 0, 0}},
                  {{0, stride, 0, 0, 1, 0, 0}},
                  {{0, 0, stride, 0, 0, 1, 0}},
                  {{0, 0, 0, 0, 0, 0, 1}}};
    c.rhs = AffineMap::project(7, {4, 5, 6, 3});
    const Shape image = {n, stride * (height - 1) + dy, stride * (width - 1) + dx, in};
    const Tensor x = b.input("x", DType::F32, image);
    const Tensor taps = b.input("taps", DType::F32, {dy, dx, in, out});
    finish(b, b.contract(x, taps, c, {n, height, width, out}), {n, height, width, out});
    return *std::move(b).finish();
  }

  // out[y, x, c] = sum of image[y + dy, x + dx, c] * taps[dy, dx, c], or with taps[c, dy, dx].
  Graph depthwise() {
    Builder b("t");
    const int64_t height = 1 + below(5), width = 1 + below(9), channels = 1 + below(14);
    const int64_t dy = 1 + below(3), dx = 1 + below(3);
    const bool channels_first = below(2) == 1;
    Contraction c;
    c.extents = {height, width, channels, dy, dx};
    c.out = AffineMap::project(5, {0, 1, 2});
    c.lhs.axes = {{{1, 0, 0, 1, 0}}, {{0, 1, 0, 0, 1}}, {{0, 0, 1, 0, 0}}};
    c.rhs = channels_first ? AffineMap::project(5, {2, 3, 4}) : AffineMap::project(5, {3, 4, 2});
    const Tensor x = b.input("x", DType::F32, {height + dy - 1, width + dx - 1, channels});
    const Tensor taps = b.input("taps", DType::F32,
                                channels_first ? Shape{channels, dy, dx} : Shape{dy, dx, channels});
    finish(b, b.contract(x, taps, c, {height, width, channels}), {height, width, channels});
    return *std::move(b).finish();
  }

  Schedule schedule() {
    Schedule schedule;
    schedule.rows = below(9);
    schedule.columns = 4 * below(5);
    schedule.unroll = below(6);
    schedule.block_rows = below(3) * (1 + below(20));
    schedule.block_columns = below(3) * (1 + below(20));
    schedule.block_depth = below(3) * (1 + below(20));
    schedule.pack_rows = below(3);
    schedule.pack_columns = below(3);
    schedule.lanes = below(3);
    return schedule;
  }

 private:
  // Alone, with maps behind it, or as an update in place.
  void finish(Builder& b, Tensor sum, const Shape& shape) {
    switch (below(4)) {
      case 0:
        b.output("out", sum);
        break;
      case 1: {
        const Tensor bias = b.broadcast_to(b.input("b", DType::F32, {shape.back()}), shape);
        const Tensor other = b.input("other", DType::F32, shape);
        b.output("out", graph::maximum(sum + bias, other));
        break;
      }
      case 2: {
        Shape one = shape;
        one.back() = 1;
        const Tensor scale = b.broadcast_to(b.input("scale", DType::F32, one), shape);
        b.output("sum", sum);
        b.output("out", sum * scale);
        break;
      }
      case 3: {
        const Tensor w = b.state("w", DType::F32, shape), m = b.state("m", DType::F32, shape);
        const Tensor next = m * 0.5f + sum;
        b.update(m, next);
        b.update(w, w - next * 0.1f);
        break;
      }
    }
  }
};

void expect_right(uint32_t seed, Graph (RandomContraction::*make)()) {
  RandomContraction random(seed);
  const Graph graph = (random.*make)();
  for (int i = 0; i < 3; ++i) {
    const Schedule schedule = random.schedule();
    const std::string wrong = problem(graph, schedule, random, 1e-4);
    ASSERT_EQ(wrong, "") << "seed " << seed << " schedule " << text(schedule) << "\n"
                         << loop::print(lower({{graph}}));
  }
}

TEST(Contract, ProductsUnderAnySchedule) {
  for (uint32_t seed = 0; seed < 150; ++seed) expect_right(seed, &RandomContraction::product);
}

TEST(Contract, ConvolutionsUnderAnySchedule) {
  for (uint32_t seed = 0; seed < 100; ++seed) expect_right(seed, &RandomContraction::convolution);
}

TEST(Contract, DepthwiseConvolutionsUnderAnySchedule) {
  for (uint32_t seed = 0; seed < 100; ++seed) expect_right(seed, &RandomContraction::depthwise);
}

Schedule scheduled_for(Builder&& builder) {
  std::vector<ScheduledContraction> found;
  lower({{*std::move(builder).finish()}}, {}, &found);
  EXPECT_EQ(found.size(), 1u);
  return found[0].schedule;
}

Schedule of_product(const Shape& x, const Shape& y, bool transpose_x, bool transpose_y) {
  Builder b("t");
  b.output("z", b.matmul(b.input("x", DType::F32, x), b.input("y", DType::F32, y), transpose_x,
                         transpose_y));
  return scheduled_for(std::move(b));
}

TEST(Contract, EveryProductGetsTheStrategyThatSuitsIt) {
  const Schedule large = of_product({512, 512}, {512, 512}, false, false);
  EXPECT_EQ(large.lanes, 1);
  EXPECT_EQ(large.pack_rows, 2);
  EXPECT_EQ(large.pack_columns, 2);
  const Schedule small = of_product({64, 64}, {64, 64}, false, false);
  EXPECT_EQ(small.pack_rows, 1);
  EXPECT_EQ(small.pack_columns, 1);
  EXPECT_EQ(64 % small.rows, 0);
  EXPECT_EQ(of_product({64, 128}, {128, 128}, false, false).rows, 6);
  const Schedule transposed = of_product({64, 64}, {64, 64}, false, true);
  EXPECT_EQ(transposed.lanes, 1);
  EXPECT_EQ(transposed.pack_columns, 2);
  // What is read once is not copied.
  EXPECT_EQ(of_product({1, 64}, {64, 64}, false, true).lanes, 2);
  EXPECT_EQ(of_product({64, 64}, {64, 1}, false, false).lanes, 2);
  EXPECT_EQ(of_product({1, 1024}, {1024, 1024}, false, false).block_depth, 4);
  EXPECT_EQ(of_product({1, 64}, {64, 64}, false, false).rows, 1);
}

TEST(Contract, AnOperandIsCopiedOnceForAllWhoReadItAlike) {
  Builder b("t");
  const Tensor w = b.input("w", DType::F32, {64, 48});
  for (const char* name : {"a", "b"}) {
    b.output(concat(name, ".out"), b.matmul(b.input(name, DType::F32, {64, 48}), w, false, true));
  }
  const loop::Module module = lower({{*std::move(b).finish()}});
  EXPECT_EQ(module.entries[0].kernels.size(), 3u);
}

TEST(Contract, DimensionsThatMemoryWalksEvenlyShareALoop) {
  // A 1x1 convolution is a product of all places with the taps.
  Builder b("t");
  Contraction c;
  c.extents = {2, 5, 7, 16, 1, 1, 8};
  c.out = AffineMap::project(7, {0, 1, 2, 3});
  c.lhs.axes = {{{1, 0, 0, 0, 0, 0, 0}},
                {{0, 1, 0, 0, 1, 0, 0}},
                {{0, 0, 1, 0, 0, 1, 0}},
                {{0, 0, 0, 0, 0, 0, 1}}};
  c.rhs = AffineMap::project(7, {4, 5, 6, 3});
  b.output("y", b.contract(b.input("x", DType::F32, {2, 5, 7, 8}),
                           b.input("taps", DType::F32, {1, 1, 8, 16}), c, {2, 5, 7, 16}));
  std::vector<ScheduledContraction> found;
  lower({{*std::move(b).finish()}}, {}, &found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, "f32 70:16,8,0 16:1,0,1 | 8:0,1,16");
}

}  // namespace
}  // namespace lathe::lower::cpu
