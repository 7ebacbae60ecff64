// Convolutions by transformed tiles: what they compute must be what the graph's evaluator computes,
// up to rounding.
#include "lathe/lower/cpu/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "lathe/base/text.h"
#include "lathe/grad/gradient.h"
#include "lathe/graph/builder.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/lower/cpu/passes.h"
#include "lathe/ops/windows/conv.h"
#include "lathe/opt/passes.h"
#include "lowered.h"

namespace lathe::lower::cpu {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::RandomGraph;
using graph::Shape;
using graph::Tensor;

Tensor constant(Builder& b, RandomGraph& random, const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(graph::element_count(shape)));
  for (float& value : values) value = random.unit();
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return b.constant(DType::F32, shape, std::move(bytes));
}

// A convolution of 3x3 windows with maps after it.
Graph convolution(RandomGraph& random, int64_t height, int64_t width) {
  Builder b("t");
  const int64_t n = 1 + random.below(2), in = 4 + random.below(9), out = 4 + random.below(9);
  const Shape taps = {3, 3, in, out};
  const Tensor x = b.input("x", DType::F32, {n, height, width, in});
  const Tensor filter =
      random.below(2) == 0 ? b.input("filter", DType::F32, taps) : constant(b, random, taps);
  ops::ConvOptions options;
  if (random.below(2) == 0) options.window.padding = ops::Padding::Same;
  const Tensor y = ops::conv(x, filter, options);
  switch (random.below(3)) {
    case 0:
      b.output("y", y);
      break;
    case 1:
      b.output("y", maximum(y + b.input("bias", DType::F32, {out}), b.scalar(0)));
      break;
    case 2:
      b.output("y", y);
      b.output("z", y * b.input("other", DType::F32, y.shape()));
      break;
  }
  return *std::move(b).finish();
}

int64_t count_windows(const Graph& graph) {
  std::vector<ScheduledContraction> found;
  lower({{graph}}, {}, &found);
  return std::ranges::count_if(found,
                               [](const auto& each) { return each.shape.windows.has_value(); });
}

void expect_right(const Graph& graph, RandomGraph& random) {
  ASSERT_EQ(count_windows(graph), 1);
  for (const auto& [tile, tolerance] : {std::pair{2, 1e-4}, {4, 1e-3}}) {
    Schedule schedule;
    schedule.winograd = tile;
    ASSERT_EQ(problem(graph, schedule, random, tolerance), "") << "tiles of " << tile;
  }
}

TEST(Winograd, ImagesOfAllSizes) {
  for (int64_t size = 4; size <= 40; ++size) {
    RandomGraph random(static_cast<uint32_t>(size));
    const int64_t other = 4 + random.below(9);
    SCOPED_TRACE(concat("size ", size, " by ", other));
    expect_right(prepare(convolution(random, size, other)), random);
    expect_right(prepare(convolution(random, other, size)), random);
    if (size < 10) expect_right(convolution(random, other, size), random);
  }
}

TEST(Winograd, GradientsByTheImage) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    RandomGraph random(seed);
    Builder b("t");
    const Shape shape = {2, 8 + random.below(6), 8 + random.below(6), 8};
    const Tensor x = b.input("x", DType::F32, shape);
    const Tensor filter = b.input("filter", DType::F32, {3, 3, 8, 12});
    ops::ConvOptions options;
    if (random.below(2) == 0) options.window.padding = ops::Padding::Same;
    const Tensor y = ops::conv(x, filter, options);
    const Tensor loss = sum(y * b.input("other", DType::F32, y.shape()), {0, 1, 2, 3});
    b.output("dx", grad::gradients(b, loss, std::vector{x})[0]);
    Graph graph = *std::move(b).finish();
    for (const opt::Pass& pass : opt::passes()) graph = pass.run(std::move(graph));
    expect_right(prepare(std::move(graph)), random);
  }
}

}  // namespace
}  // namespace lathe::lower::cpu
