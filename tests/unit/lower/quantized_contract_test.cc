// Rows times weights of few bits: what they compute, and that nothing unpacks the weights.
#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"
#include "lathe/loop/text/print.h"
#include "lathe/lower/cpu/lower.h"
#include "lathe/ops/linalg/quantized.h"
#include "lathe/opt/passes.h"
#include "lowered.h"

namespace lathe::lower::cpu {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;

struct Product {
  int64_t rows, depth, columns;
  int bits;
  int64_t block;
  bool has_zeros = false;
  bool is_constant = true;
};

Tensor noise(Builder& b, DType dtype, Shape shape, uint32_t seed) {
  std::vector<std::byte> data;
  for (int64_t i = 0; i < graph::element_count(shape); ++i) {
    seed = seed * 1664525 + 1013904223;
    // So small that usual results are near 1, whatever cancels in others.
    const auto number = scalar::Number::from(dtype, static_cast<double>(seed >> 24) / 1e5);
    for (const std::byte each : graph::bytes_of(
             dtype == DType::U8 ? scalar::Number::integer(dtype, seed >> 24) : number)) {
      data.push_back(each);
    }
  }
  return b.constant(dtype, std::move(shape), std::move(data));
}

Graph product(const Product& of) {
  Builder b("t");
  const int64_t blocks = (of.depth + of.block - 1) / of.block;
  const Tensor x = b.input("x", DType::F32, {of.rows, of.depth});
  const Tensor w = noise(b, DType::U8, {of.columns, blocks, of.block * of.bits / 8}, 3);
  const Tensor scales = of.is_constant ? noise(b, DType::F32, {of.columns, blocks}, 4)
                                       : b.input("s", DType::F32, {of.columns, blocks});
  Tensor zeros;
  if (of.has_zeros) zeros = noise(b, DType::U8, {of.columns, (blocks * of.bits + 7) / 8}, 5);
  b.output("y", ops::mat_mul_nbits(x, w, scales, zeros, {of.columns, of.bits, of.block}));
  Graph graph = *std::move(b).finish();
  for (const opt::Pass& pass : opt::passes()) graph = pass.run(std::move(graph));
  return graph;
}

// Elements of the largest buffer that is neither a constant nor of the caller.
int64_t max_temporary(const loop::Module& module) {
  int64_t largest = 0;
  for (const loop::Buffer& buffer : module.buffers) {
    if (buffer.role == loop::BufferRole::Temporary) largest = std::max(largest, buffer.size);
  }
  return largest;
}

TEST(QuantizedWeights, ProductsOfAllSizes) {
  graph::RandomGraph random(1);
  for (int i = 0; i < 120; ++i) {
    const auto draw = [&](int least, int largest) {
      return least + random.below(largest - least + 1);
    };
    const int bits = 2 << random.below(3);
    const Product of{
        draw(1, 40),          draw(1, 150),       draw(1, 50), bits, int64_t{16} << random.below(4),
        random.below(2) == 1, random.below(4) > 0};
    const Graph graph = product(of);
    const VectorUnit unit{.paired = random.below(2) == 1};
    const loop::Module module = lower({{graph}}, {}, nullptr, unit);
    EXPECT_EQ(lower::problem(graph, module, random, 1e-4), "")
        << of.rows << " x " << of.depth << " x " << of.columns << ", " << bits << " bits by "
        << of.block << (of.has_zeros ? " with zeros\n" : "\n") << loop::print(module);
  }
}

TEST(QuantizedWeights, StayPackedForFewRowsOrFastPairs) {
  constexpr int64_t kDepth = 256, kColumns = 96;
  for (const int64_t rows : {1, 2, 4, 7, 40}) {
    for (const int bits : {2, 4, 8}) {
      for (const bool has_zeros : {false, true}) {
        const Graph graph = product({rows, kDepth, kColumns, bits, 32, has_zeros});
        const VectorUnit unit{.paired = rows > 4};
        const loop::Module module = lower({{graph}}, {}, nullptr, unit);
        EXPECT_LE(max_temporary(module), rows * kDepth) << bits << has_zeros << rows;
        const auto words = std::ranges::find_if(module.buffers, [](const loop::Buffer& buffer) {
          return buffer.name.starts_with("t.words");
        });
        ASSERT_NE(words, module.buffers.end());
        EXPECT_EQ(words->size, kDepth * kColumns * bits / 32);
      }
    }
  }
}

// Once, from words, into the panels that products read.
TEST(QuantizedWeights, AreFloatsInPanelsForManyRows) {
  for (const bool has_zeros : {false, true}) {
    const loop::Module module = lower({{product({20, 64, 32, 4, 32, has_zeros})}});
    int64_t floats = 0;
    for (const loop::Buffer& buffer : module.buffers) {
      if (buffer.role == loop::BufferRole::Temporary) floats += buffer.size;
      if (buffer.role == loop::BufferRole::Constant && buffer.dtype == loop::DType::U8) {
        EXPECT_EQ(loop::print(module).find(buffer.name + "["), std::string::npos);
      }
    }
    EXPECT_EQ(floats, 64 * 32);
  }
}

// Pair p of a word consists of numbers p and p + 4: bytes with two numbers each are unchanged.
TEST(QuantizedWeights, WordsConsistOfPairs) {
  Builder b("t");
  const Tensor x = b.input("x", DType::F32, {1, 8});
  std::vector<std::byte> bytes;
  for (const int byte : {0x10, 0x32, 0x54, 0x76}) {
    bytes.insert(bytes.end(), 4, static_cast<std::byte>(byte));
  }
  // Four columns in the same bytes.
  const Tensor packed = b.permute(b.constant(DType::U8, {4, 4}, std::move(bytes)), {1, 0});
  const Tensor scales = b.full({4, 1}, scalar::Number::of(1.0f));
  b.output("y", ops::mat_mul_nbits(x, b.reshape(packed, {4, 1, 4}), scales, {}, {4, 4, 8}));
  const auto graph = std::move(b).finish();
  ASSERT_TRUE(graph) << graph.error().message;
  const loop::Module module = lower({{*graph}});
  const auto words = std::ranges::find_if(module.buffers, [](const loop::Buffer& buffer) {
    return buffer.name.starts_with("t.words");
  });
  ASSERT_NE(words, module.buffers.end());
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(graph::load(DType::I32, {words->data.begin(), words->data.end()}, i).i, 0x76543210);
  }
}

}  // namespace
}  // namespace lathe::lower::cpu
