#include "lathe/compile/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

#include "lathe/graph/builder.h"

namespace lathe::compile {
namespace {

using graph::Builder;
using graph::DType;
using graph::Tensor;

Executable compiled(void (*build)(Builder&)) {
  Builder b("go");
  build(b);
  graph::Program program;
  auto go = std::move(b).finish();
  EXPECT_TRUE(go) << go.error().message;
  program.entries.push_back(std::move(*go));
  auto executable = compile(program, {});
  EXPECT_TRUE(executable) << executable.error().message;
  return std::move(*executable);
}

void products(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {9, 17}), w = b.state("w", DType::F32, {17, 21});
  const Tensor y = b.input("y", DType::F32, {21, 17}), z = b.input("z", DType::F32, {3, 17, 5});
  const Tensor row = b.input("row", DType::F32, {1, 21});
  b.output("plain", b.matmul(x, w) + 1.0f);
  b.output("right transposed", b.matmul(x, y, false, true));
  b.output("left transposed", b.matmul(x, x, true, false));
  b.output("batched", b.matmul(x, z));
  b.output("thin", b.matmul(row, y));
  b.update(w, w - b.matmul(x, b.matmul(x, w), true, false) * 0.1f);
}

// The copy of a constant is made while compiling, and costs no run time.
void times_a_constant(Builder& b) {
  std::vector<std::byte> data(40 * 24 * sizeof(float), std::byte{1});
  const Tensor x = b.input("x", DType::F32, {1, 40});
  b.output("y", b.matmul(x, b.constant(DType::F32, {40, 24}, std::move(data))));
}

// With few rows, constants that fit float16 are stored as float16: the measured kernel must not do
// that.
void times_a_large_constant(Builder& b) {
  std::vector<float> data(256 * 260);
  for (size_t i = 0; i < data.size(); ++i) data[i] = 1.0f / static_cast<float>(i + 3);
  std::vector<std::byte> bytes(data.size() * sizeof(float));
  std::memcpy(bytes.data(), data.data(), bytes.size());
  const Tensor w = b.constant(DType::F32, {256, 260}, std::move(bytes));
  for (int64_t rows = 1; rows <= 5; ++rows) {
    const std::string name = std::to_string(rows);
    b.output("y" + name, b.matmul(b.input("x" + name, DType::F32, {rows, 256}), w));
  }
}

void backwards(Builder& b) {
  graph::Contraction contraction;
  contraction.extents = {6, 3, 4};
  contraction.out = graph::AffineMap::project(3, {0, 2});
  contraction.lhs.axes = {graph::Affine{{-2, 1, 0}, 10}};
  contraction.rhs = graph::AffineMap::project(3, {1, 2});
  const Tensor data = b.input("data", DType::F32, {13}), taps = b.input("taps", DType::F32, {3, 4});
  b.output("y", b.contract(data, taps, contraction, {6, 4}));
}

TEST(Tune, AKernelIsTheContractionItMeasures) {
  size_t measured = 0;
  for (const auto build : {products, backwards, times_a_constant, times_a_large_constant}) {
    const Executable executable = compiled(build);
    for (const lower::cpu::ScheduledContraction& contraction : executable.wasm().contractions) {
      const auto kernel = compile_kernel(contraction, {.rows = 2, .columns = 12}, {});
      ASSERT_TRUE(kernel) << kernel.error().message;
      const lower::cpu::ScheduledContraction& separate = kernel->wasm().contractions.at(0);
      EXPECT_EQ(separate.key, contraction.key);
      EXPECT_EQ(
          separate.schedule,
          lower::cpu::narrowed({.rows = 2, .columns = 12},
                               lower::cpu::default_schedule(contraction.shape), contraction.shape));
      EXPECT_EQ(kernel->entries.at(0).name, "run");
      EXPECT_EQ(kernel->states.size(), contraction.shape.inplace ? 1u : 0u);
      ++measured;
    }
  }
  EXPECT_EQ(measured, 13u);
}

TEST(Tune, LargeContractionsAreMeasuredOnSomeRows) {
  const Executable executable = compiled([](Builder& b) {
    const Tensor x = b.input("x", DType::F32, {2, 512, 256}),
                 y = b.input("y", DType::F32, {256, 384});
    b.output("z", b.matmul(x, y));
  });
  const auto kernel = compile_kernel(executable.wasm().contractions.at(0), {.rows = 6}, {});
  ASSERT_TRUE(kernel) << kernel.error().message;
  const lower::cpu::ScheduledContraction& measured = kernel->wasm().contractions.at(0);
  EXPECT_LT(measured.shape.multiply_adds(),
            executable.wasm().contractions[0].shape.multiply_adds());
  EXPECT_EQ(measured.schedule.rows, 6);
}

TEST(Tune, WideLanesMakeWideTilesStandard) {
  const Executable executable = compiled(products);
  for (const lower::cpu::ScheduledContraction& contraction : executable.wasm().contractions) {
    Features wide;
    wide.wide_lanes = true;
    const auto kernel = compile_kernel(contraction, {}, wide);
    ASSERT_TRUE(kernel);
    if (contraction.schedule.lanes == 2) continue;  // dot products
    EXPECT_GE(kernel->wasm().contractions.at(0).schedule.columns,
              std::min<int64_t>(16, contraction.shape.columns()));
  }
}

TEST(Tune, CandidatesAreDifferentSchedulesThatFit) {
  const Executable executable = compiled(products);
  for (const lower::cpu::ScheduledContraction& contraction : executable.wasm().contractions) {
    const lower::cpu::Schedule standard = lower::cpu::default_schedule(contraction.shape);
    std::vector<lower::cpu::Schedule> all = candidates(contraction.shape);
    all.push_back(standard);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(lower::cpu::narrowed(all[i], standard, contraction.shape), all[i]);
      EXPECT_EQ(std::ranges::count(all, all[i]), 1) << lower::cpu::text(all[i]);
    }
  }
}

TEST(Tune, DefaultsDependOnCacheSizes) {
  const Executable executable = compiled([](Builder& b) {
    const auto input = [&](const char* name, int64_t rows, int64_t columns) {
      return b.input(name, DType::F32, {rows, columns});
    };
    b.output("gradient", b.matmul(input("x", 64, 784), input("dy", 64, 128), true, false));
    b.output("deep", b.matmul(input("u", 2000, 64), input("v", 2000, 128), true, false));
    b.output("small", b.matmul(input("p", 32, 40), input("q", 40, 24)));
  });
  ASSERT_EQ(executable.wasm().contractions.size(), 3u);
  const auto& [gradient, deep, small] = std::tie(executable.wasm().contractions[0].schedule,
                                                 executable.wasm().contractions[1].schedule,
                                                 executable.wasm().contractions[2].schedule);
  EXPECT_EQ(gradient.block_rows, gradient.rows);  // its large result in the order of memory
  EXPECT_EQ(deep.pack_rows, 2);
  EXPECT_EQ(deep.pack_columns, 2);
  EXPECT_GE(small.block_rows, 32);
  EXPECT_EQ(small.pack_rows, 1);
  EXPECT_EQ(small.pack_columns, 1);
}

}  // namespace
}  // namespace lathe::compile
