// Contractions divided among threads: a schedule determines the tiles, and never changes what they
// compute.
#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/text/print.h"
#include "lathe/lower/gpu/lower.h"
#include "lowered.h"
#include "random_contraction.h"

namespace lathe::lower::gpu {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Shape;
using loop::Kernel;

constexpr Device kDevice = {256, 16384};

struct Lowered {
  loop::Module module;
  ScheduledContraction contraction;
};

// All that the compiler does up to the shaders; `schedule` for every contraction.
Lowered lowered(const Graph& graph, const Schedule& schedule, const Device& device = kDevice) {
  std::vector<ScheduledContraction> found, used;
  lower({{graph}}, device, {}, &found);
  Schedules schedules;
  for (const ScheduledContraction& each : found) schedules[each.key] = schedule;
  loop::Module module = lower({{graph}}, device, schedules, &used);
  for (Kernel& kernel : module.entries[0].kernels) {
    loop::collapse_loops(kernel);
    loop::bind_grid(kernel);
  }
  return {std::move(module), used.empty() ? ScheduledContraction{} : used[0]};
}

Graph product(int64_t rows, int64_t depth, int64_t columns) {
  Builder b("t");
  b.output("z", b.matmul(b.input("x", DType::F32, {rows, depth}),
                         b.input("y", DType::F32, {depth, columns}), false, false));
  return *std::move(b).finish();
}

// Threads of a group: the product of its Group loops.
int64_t threads_of(const Kernel& kernel, const std::vector<loop::Stmt>& body) {
  if (body.size() != 1 || body[0].kind != loop::StmtKind::For) return 1;
  const bool counts = body[0].loop == loop::LoopKind::Group;
  const int64_t inside = threads_of(kernel, body[0].body);
  return counts ? inside * kernel.vars[static_cast<size_t>(body[0].var)].extent : inside;
}

int64_t size_of(const std::vector<loop::Buffer>& buffers, std::string_view name) {
  const auto found = std::ranges::find(buffers, name, &loop::Buffer::name);
  return found == buffers.end() ? 0 : found->size;
}

// The schedule of the fastest hand-written shader.
TEST(ThreadTiles, FollowTheSchedule) {
  const Schedule schedule = {.tile_rows = 128,
                             .tile_columns = 64,
                             .threads = 64,
                             .thread_rows = 16,
                             .thread_columns = 8,
                             .depth = 8,
                             .vector = 4,
                             .buffers = 2,
                             .prefetch = 2,
                             .pad = 4,
                             .split = 1};
  const Lowered result = lowered(product(256, 64, 128), schedule);
  ASSERT_EQ(result.module.entries[0].kernels.size(), 1u);
  const Kernel& kernel = result.module.entries[0].kernels[0];
  EXPECT_EQ(threads_of(kernel, kernel.body), 64);
  EXPECT_EQ(size_of(kernel.shared, "row_tile"), 2 * 8 * (128 + 4));
  EXPECT_EQ(size_of(kernel.shared, "column_tile"), 2 * 8 * (64 + 4));
  EXPECT_EQ(size_of(kernel.registers, "sums"), 16 * 8);
  EXPECT_EQ(size_of(kernel.registers, "next_rows"), 8 * 128 / 64);
  EXPECT_EQ(size_of(kernel.registers, "next_columns"), 8 * 64 / 64);
  Schedule used = schedule;
  used.subgroup_rows = used.subgroup_columns = 1;
  EXPECT_EQ(result.contraction.schedule, used) << text(result.contraction.schedule);
}

TEST(ThreadTiles, AreNoneWhereTheScheduleHasNone) {
  for (const auto& [threads, used] : {std::pair{0, 64}, {16, 16}, {4096, 256}}) {
    const Lowered result =
        lowered(product(64, 64, 512), {.tile_rows = 1, .tile_columns = 1, .threads = threads});
    const Kernel& kernel = result.module.entries[0].kernels[0];
    EXPECT_TRUE(kernel.shared.empty());
    EXPECT_EQ(threads_of(kernel, kernel.body), used);
  }
}

// Columns that move both operands, and a matrix times a vector.
TEST(ThreadTiles, AreNoneWithoutReuse) {
  Builder b("t");
  graph::Contraction c;
  c.extents = {32, 32, 32};
  c.out = graph::AffineMap::project(3, {0, 1});
  c.lhs = graph::AffineMap::project(3, {0, 2, 1});
  c.rhs = graph::AffineMap::project(3, {2, 1});
  const Shape lhs = {32, 32, 32}, rhs = {32, 32};
  b.output("z", b.contract(b.input("x", DType::F32, lhs), b.input("y", DType::F32, rhs), c, rhs));
  const Schedule expected = {.tile_rows = 16, .tile_columns = 16};
  for (const Graph& graph : {*std::move(b).finish(), product(64, 64, 1)}) {
    const Lowered result = lowered(graph, expected);
    EXPECT_TRUE(result.module.entries[0].kernels[0].shared.empty());
    EXPECT_EQ(result.contraction.schedule.tile_rows, 1);
  }
}

// A second kernel adds up what groups summed of each part.
TEST(ThreadTiles, SplitTheReducedDimension) {
  const Lowered unsplit = lowered(product(16, 256, 16), {.depth = 8, .buffers = 1, .split = 1});
  EXPECT_EQ(unsplit.module.entries[0].kernels.size(), 1u);
  const Lowered split = lowered(product(16, 256, 16), {.depth = 8, .buffers = 1, .split = 4});
  ASSERT_EQ(split.module.entries[0].kernels.size(), 2u);
  EXPECT_EQ(size_of(split.module.buffers, "t.sums2"), 4 * 16 * 16);
}

TEST(ThreadTiles, AreNarrowedToTheDevice) {
  const Schedule large = {.tile_rows = 256,
                          .tile_columns = 256,
                          .thread_rows = 2,
                          .thread_columns = 2,
                          .depth = 32,
                          .buffers = 2,
                          .subgroup_rows = 64,
                          .subgroup_columns = 64};
  for (const Device& device : {kDevice, Device{1024, 49152}, Device{16, 1024}}) {
    const Lowered result = lowered(product(512, 512, 512), large, device);
    const Kernel& kernel = result.module.entries[0].kernels[0];
    int64_t bytes = 0;
    for (const loop::Buffer& each : kernel.shared) bytes += 4 * each.size;
    EXPECT_LE(bytes, device.shared_bytes);
    EXPECT_GE(2 * bytes, device.shared_bytes);
    EXPECT_LE(threads_of(kernel, kernel.body), device.threads);
    EXPECT_EQ(result.contraction.schedule.subgroup_rows, 1);
  }
}

// Tiles that fill a card where there are enough, and parts where there are few.
TEST(ThreadTiles, AreLargeByDefaultWhereThereAreMany) {
  const auto standard = [](const Graph& graph) { return lowered(graph, {}).contraction.schedule; };
  const Schedule large = standard(product(2048, 2048, 2048));
  EXPECT_EQ(large.tile_rows, 128);
  EXPECT_EQ(large.split, 1);
  const Schedule deep = standard(product(16, 4096, 16));
  EXPECT_EQ(deep.tile_rows, 8);
  EXPECT_EQ(deep.split, 16);
  EXPECT_EQ(standard(product(2, 64, 64)).tile_rows, 1);
}

Schedule draw_schedule(RandomContraction& random) {
  Schedule schedule;
  for (const ScheduleField& each : kScheduleFields) {
    if (random.below(4) != 0) schedule.*each.field = 1 << random.below(6);
  }
  return schedule;
}

void expect_right(uint32_t seed, Graph (RandomContraction::*make)(), int& tiled) {
  RandomContraction random(seed);
  const Graph graph = (random.*make)();
  for (int i = 0; i < 3; ++i) {
    const Schedule schedule = draw_schedule(random);
    const Device device = random.below(2) == 0 ? kDevice : Device{16, 1024};
    const loop::Module module = lowered(graph, schedule, device).module;
    tiled += !module.entries[0].kernels[0].shared.empty();
    ASSERT_EQ(problem(graph, module, random, 1e-4), "")
        << "seed " << seed << " schedule " << text(schedule) << "\n"
        << loop::print(module);
  }
}

TEST(ThreadTiles, ProductsUnderAnySchedule) {
  int tiled = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    expect_right(seed, &RandomContraction::product, tiled);
  }
  EXPECT_GT(tiled, 200);
}

TEST(ThreadTiles, ConvolutionsUnderAnySchedule) {
  int tiled = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    expect_right(seed, &RandomContraction::convolution, tiled);
    expect_right(seed, &RandomContraction::depthwise, tiled);
  }
  EXPECT_GT(tiled, 100);
}

}  // namespace
}  // namespace lathe::lower::gpu
