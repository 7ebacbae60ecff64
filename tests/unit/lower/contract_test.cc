// Contractions of many shapes under random schedules: what they compute must be what the graph's
// evaluator computes.
#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"
#include "lathe/loop/text/print.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/lower/cpu/shorten_constants.h"
#include "lowered.h"
#include "random_contraction.h"

namespace lathe::lower::cpu {
namespace {

using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;

Schedule draw_schedule(RandomContraction& random) {
  Schedule schedule;
  schedule.rows = random.below(9);
  schedule.columns = 4 * random.below(5);
  schedule.unroll = random.below(6);
  schedule.block_rows = random.below(3) * (1 + random.below(20));
  schedule.block_columns = random.below(3) * (1 + random.below(20));
  schedule.block_depth = random.below(3) * (1 + random.below(20));
  schedule.pack_rows = random.below(3);
  schedule.pack_columns = random.below(3);
  schedule.lanes = random.below(3);
  return schedule;
}

void expect_right(uint32_t seed, Graph (RandomContraction::*make)(), bool has_float16 = false) {
  RandomContraction random(seed);
  random.has_float16 = has_float16;
  const Graph graph = (random.*make)();
  for (int i = 0; i < 3; ++i) {
    const Schedule schedule = draw_schedule(random);
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

TEST(Contract, Float16UnderAnySchedule) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    for (const auto make : {&RandomContraction::product, &RandomContraction::convolution,
                            &RandomContraction::depthwise}) {
      expect_right(seed, make, /*has_float16=*/true);
    }
  }
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
  const Schedule row = of_product({1, 64}, {64, 64}, false, false);
  EXPECT_EQ(row.rows, 1);
  EXPECT_EQ(row.columns, 32);
  EXPECT_EQ(of_product({8, 1, 64}, {8, 64, 64}, false, false).columns, 64);
}

TEST(Contract, RowsAreCopiedWhereTheirConstantComesFromBeyondTheCache) {
  const auto pack_rows = [](int64_t rows, int64_t columns) {
    Builder b("t");
    std::vector<std::byte> numbers(static_cast<size_t>(512 * columns) * sizeof(float),
                                   std::byte{1});
    const Tensor w = b.constant(DType::F32, {512, columns}, std::move(numbers));
    b.output("y", b.matmul(b.input("x", DType::F32, {rows, 512}), w));
    return scheduled_for(std::move(b)).pack_rows;
  };
  EXPECT_EQ(pack_rows(64, 512), 2);
  EXPECT_EQ(pack_rows(16, 512), 1);
  EXPECT_EQ(pack_rows(64, 128), 1);
}

// Large enough to be read from several addresses at once, in tiles of any width; the rest of the
// columns is none of these, and less than a vector too. Some constants are float16, whose
// vectors are interleaved. The sums overwrite the values that they are added to.
TEST(Contract, OneRowTimesALargeConstant) {
  graph::RandomGraph random(1);
  for (int i = 0; i < 120; ++i) {
    const int64_t depth = 20 + random.below(300), columns = 4 + random.below(400);
    Builder b("t");
    std::vector<std::byte> numbers;
    for (int64_t k = 0; k < depth * columns; ++k) {
      const auto bytes = graph::bytes_of(scalar::Number::of(static_cast<float>(k * 37 % 101)));
      numbers.insert(numbers.end(), bytes.begin(), bytes.end());
    }
    const Tensor w = b.constant(DType::F32, {depth, columns}, std::move(numbers));
    const Tensor x = b.input("x", DType::F32, {1, depth});
    const Tensor before = b.state("s", DType::F32, {1, columns});
    b.update(before, before + b.matmul(x, w));
    Graph graph = *std::move(b).finish();
    if (i % 2 == 1) graph = shorten_constants(graph);
    const Schedule schedule{.columns = 8 * random.below(9),
                            .unroll = random.below(6),
                            .block_columns = i % 5 == 0 ? 40 : 0,
                            .block_depth = i % 7 == 0 ? 10 : 0,
                            .pack_columns = 2};
    EXPECT_EQ(problem(graph, schedule, random, 1e-4), "")
        << depth << " x " << columns << " schedule " << text(schedule);
  }
}

// Quarters of the columns follow each other in memory, and tiles of eight are split among them.
TEST(Contract, OneRowReadsFourStreamsOfALargeConstant) {
  Builder b("t");
  std::vector<std::byte> numbers(256 * 256 * sizeof(float), std::byte{1});
  const Tensor w = b.constant(DType::F32, {256, 256}, std::move(numbers));
  b.output("y", b.matmul(b.input("x", DType::F32, {1, 256}), w));
  const std::string loops = loop::print(lower({{*std::move(b).finish()}}));
  for (const char* stream : {"16384", "32768", "49152"}) {
    EXPECT_NE(loops.find(stream), std::string::npos) << stream << loops;
  }
}

TEST(Contract, AnOperandIsCopiedOnceForAllReadersWithEqualAccess) {
  Builder b("t");
  const Tensor w = b.input("w", DType::F32, {64, 48});
  for (const char* name : {"a", "b"}) {
    b.output(concat(name, ".out"), b.matmul(b.input(name, DType::F32, {64, 48}), w, false, true));
  }
  const loop::Module module = lower({{*std::move(b).finish()}});
  EXPECT_EQ(module.entries[0].kernels.size(), 3u);
}

TEST(Contract, DimensionsThatMemoryWalksEvenlyShareALoop) {
  // A 1x1 convolution is a product of all positions with the taps.
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
