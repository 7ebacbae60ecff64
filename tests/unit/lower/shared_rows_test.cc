// Long rows that the threads of a group share: by subgroups of any size, and without.
#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/loop/passes/bind_grid.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/text/print.h"
#include "lathe/lower/gpu/lower.h"
#include "lowered.h"

namespace lathe::lower::gpu::shared_rows_test {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Tensor;
using loop::Op;

loop::Module lowered(const Graph& graph, int64_t subgroup_threads) {
  loop::Module module = lower({{graph}}, {256, 16384, subgroup_threads});
  for (loop::Kernel& kernel : module.entries[0].kernels) {
    loop::collapse_loops(kernel);
    loop::bind_grid(kernel);
  }
  return module;
}

Tensor map(Op op, Tensor x, Tensor y) {
  const Tensor operands[] = {x, y};
  return x.builder->map(op, operands);
}

Graph softmax(int64_t rows, int64_t length) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {rows, length});
  const auto along = [&](Tensor row) {
    return b.broadcast_to(b.reshape(row, {rows, 1}), {rows, length});
  };
  const Tensor shifted = map(Op::Sub, x, along(b.reduce(Op::Max, x, {1})));
  const Tensor e = b.map(Op::Exp, std::span(&shifted, 1));
  b.output("y", map(Op::Div, e, along(b.reduce(Op::Add, e, {1}))));
  return *std::move(b).finish();
}

// Sums, products, extremes of rows, and a state that is updated by one.
Graph folds(int64_t rows, int64_t length) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {rows, length});
  const Tensor mean = b.state("mean", DType::F32, {rows});
  const Tensor sum = b.reduce(Op::Add, x, {1});
  b.output("sum", sum);
  b.output("least", b.reduce(Op::Min, x, {1}));
  b.output("squares", b.reduce(Op::Add, map(Op::Mul, x, x), {1}));
  b.update(mean, map(Op::Add, mean, sum));
  return *std::move(b).finish();
}

Graph columns(int64_t rows, int64_t length) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {length, rows});
  b.output("most", b.reduce(Op::Max, x, {0}));
  b.output("sum", b.reduce(Op::Add, x, {0}));
  return *std::move(b).finish();
}

bool contains(const loop::Module& module, std::string_view text) {
  return loop::print(module).contains(text);
}

TEST(SharedRows, ComputeTheSame) {
  graph::RandomGraph random(5);
  for (const auto make : {softmax, folds, columns}) {
    for (const int64_t length : {127, 128, 129, 200, 1024, 1500, 5000}) {
      const Graph graph = make(length < 1000 ? 3 : 1, length);
      for (const int64_t device : {0, 4, 16, 32, 64, 128}) {
        const loop::Module module = lowered(graph, device);
        EXPECT_EQ(contains(module, " subgroup {"), length >= 128 && device > 0) << length;
        EXPECT_EQ(contains(module, "barrier"), length >= 128 && device < (length < 1024 ? 64 : 256))
            << length;
        for (int64_t size = std::max(device, loop::kMinSubgroup); size <= loop::kMaxSubgroup;
             size *= 2) {
          ASSERT_EQ(problem(graph, module, random, 1e-4, size), "")
              << length << ' ' << device << ' ' << size << '\n'
              << loop::print(module);
          if (device == 0) break;
        }
      }
    }
  }
}

// Threads next to each other read columns next to each other.
TEST(SharedRows, AreNotManyColumns) {
  EXPECT_FALSE(contains(lowered(columns(2048, 300), 32), "barrier"));
  EXPECT_TRUE(contains(lowered(columns(100, 300), 32), "barrier"));
}

// Only sums and extremes of numbers of 32 bits are reduced in subgroups.
TEST(SharedRows, OfOtherFoldsUseWorkgroupMemory) {
  graph::RandomGraph random(5);
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {2, 300});
  b.output("product", b.reduce(Op::Mul, x, {1}));
  const Graph graph = *std::move(b).finish();
  const loop::Module module = lowered(graph, 32);
  EXPECT_FALSE(contains(module, " subgroup {"));
  EXPECT_TRUE(contains(module, "barrier"));
  EXPECT_EQ(problem(graph, module, random, 1e-4), "");
}

TEST(SharedRows, FitTheMemoryOfGroups) {
  graph::RandomGraph random(5);
  const Graph graph = softmax(2, 4000);
  EXPECT_TRUE(contains(lower({{graph}}, {256, 256, 0}), "in 32 group"));
  EXPECT_FALSE(contains(lower({{graph}}, {256, 16, 0}), "barrier"));
  EXPECT_TRUE(contains(lower({{graph}}, {100, 16384, 0}), "in 64 group"));
}

}  // namespace
}  // namespace lathe::lower::gpu::shared_rows_test
