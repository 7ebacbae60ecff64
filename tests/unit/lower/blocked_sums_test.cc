// Sums of many numbers against sums in double precision, along all axes and after maps.
#include "lathe/lower/blocked_sums.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/graph/builder.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/analysis/verify.h"
#include "lathe/loop/text/print.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/lower/cpu/passes.h"
#include "lathe/lower/gpu/lower.h"

namespace lathe::lower::blocked_sums_test {
namespace {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;

struct Case {
  Shape shape;
  std::vector<int> axes;
  bool squares = false;  // a map before the sum
  bool centred = false;  // less the mean of the row: two passes
};

graph::Graph graph_of(const Case& test, graph::Op op = graph::Op::Add) {
  Builder b("run");
  Tensor x = b.input("x", DType::F32, test.shape);
  if (test.centred) x = x - mean(x, test.axes, true);
  if (test.squares) x = x * x;
  b.output("y", b.reduce(op, x, test.axes));
  return *std::move(b).finish();
}

// What sums like these in a single total would be off by some percent.
float element(int64_t i) { return 0.1f + static_cast<float>(i % 3 == 0 ? i % 7 : 0) * 0.01f; }

std::vector<float> run(const loop::Module& module, int64_t count) {
  const Status sound = loop::verify(module);
  EXPECT_TRUE(sound) << sound.error().message;
  loop::Memory memory(module);
  const auto& entry = module.entries[0];
  const auto x = memory.view<float>(entry.inputs[0].buffer);
  for (int64_t i = 0; i < count; ++i) x[static_cast<size_t>(i)] = element(i);
  const Status ran = loop::run(module, "run", memory);
  EXPECT_TRUE(ran) << ran.error().message;
  const auto y = memory.view<float>(entry.outputs[0].buffer);
  return {y.begin(), y.end()};
}

std::vector<double> expected(const Case& test, int64_t count) {
  std::vector<int64_t> to(static_cast<size_t>(count));
  int64_t rows = 1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, stride = 1, at = 0;
    for (size_t axis = test.shape.size(); axis-- > 0;) {
      const bool summed = std::ranges::find(test.axes, static_cast<int>(axis)) != test.axes.end();
      if (!summed) at += rest % test.shape[axis] * stride, stride *= test.shape[axis];
      rest /= test.shape[axis];
    }
    rows = stride;
    to[static_cast<size_t>(i)] = at;
  }
  std::vector<double> means(static_cast<size_t>(rows)), sums(means);
  const double terms = static_cast<double>(count / rows);
  for (int64_t i = 0; i < count; ++i) {
    means[static_cast<size_t>(to[static_cast<size_t>(i)])] += element(i) / terms;
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<size_t>(to[static_cast<size_t>(i)]);
    const double x = element(i) - (test.centred ? means[row] : 0);
    sums[row] += test.squares ? x * x : x;
  }
  return sums;
}

const Case kCases[] = {
    {{300007}, {0}},
    {{131072}, {0}, true},
    {{50021}, {0}, true, true},
    {{3, 40000}, {1}},
    {{40009, 3}, {0}},
    {{20000, 17}, {0}},
    {{3, 9001, 5}, {1}, true},
    {{2, 130, 67, 16}, {1, 2}},
    {{40, 30, 11, 7}, {0, 1, 2, 3}, true},
    {{2, 17000, 6}, {1, 2}, true, true},
};

TEST(BlockedSums, PreservePrecision) {
  for (const Case& test : kCases) {
    int64_t count = 1;
    for (const int64_t size : test.shape) count *= size;
    const graph::Graph graph = graph_of(test);
    const std::vector<double> sums = expected(test, count);
    const loop::Module modules[] = {cpu::lower({{cpu::prepare(graph)}}),
                                    gpu::lower({{graph}}, {256, 16384})};
    for (const loop::Module& module : modules) {
      const std::vector<float> got = run(module, count);
      ASSERT_EQ(got.size(), sums.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i] / sums[i], 1, 4e-6) << count << ' ' << i;
      }
    }
  }
}

// Those of 4,096 numbers, and folds of other kinds, are loops as they ever were.
TEST(BlockedSums, FewAreOneTotal) {
  const auto has_totals = [](const graph::Graph& graph) {
    return loop::print(cpu::lower({{graph}})).find("sums") != std::string::npos;
  };
  EXPECT_FALSE(has_totals(graph_of({{4096}, {0}})));
  EXPECT_TRUE(has_totals(graph_of({{4097}, {0}})));
  EXPECT_FALSE(has_totals(graph_of({{4096, 8}, {0}})));
  EXPECT_TRUE(has_totals(graph_of({{4097, 8}, {0}})));
  EXPECT_FALSE(has_totals(graph_of({{90000}, {0}}, graph::Op::Max)));
}

}  // namespace
}  // namespace lathe::lower::blocked_sums_test
