// Constants that products read once are stored as float16 where they are exact, with the same
// results.
#include "lathe/lower/cpu/shorten_constants.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/verify.h"
#include "lathe/lower/cpu/lower.h"
#include "lowered.h"

namespace lathe::lower::cpu {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Tensor;
using scalar::Number;

constexpr int64_t kSize = 256;

// Rows times a matrix of all numbers of 16 bits that are finite in this type, as floats.
Graph product(DType dtype, int64_t rows, float factor = 1) {
  Builder b("t");
  std::vector<std::byte> data;
  for (uint64_t bits = 0; bits < kSize * kSize; ++bits) {
    float number = scalar::cast(Number::from_bits(dtype, bits), DType::F32).f;
    if (!(number - number == 0)) number = 0;
    const auto bytes = graph::bytes_of(Number::of(number * factor));
    data.insert(data.end(), bytes.begin(), bytes.end());
  }
  const Tensor w = b.constant(DType::F32, {kSize, kSize}, std::move(data));
  b.output("y", b.matmul(b.input("x", DType::F32, {rows, kSize}), w));
  return *std::move(b).finish();
}

bool has_dtype(const Graph& graph, DType dtype) {
  return std::ranges::any_of(graph.nodes, [dtype](const graph::Node& node) {
    return node.kind == graph::Kind::Constant && node.dtype == dtype;
  });
}

TEST(ShortenConstants, PreservesEveryFloat16) {
  for (const auto& [dtype, stored] :
       {std::pair(DType::F16, DType::I16), std::pair(DType::BF16, DType::U16)}) {
    const Graph graph = product(dtype, 1), shorter = shorten_constants(graph);
    ASSERT_TRUE(graph::verify(shorter));
    EXPECT_TRUE(has_dtype(shorter, stored));
    graph::RandomGraph random(3);
    const auto inputs = random.values(graph, graph::Kind::Input);
    std::map<std::string, graph::Array> states;
    const auto expected = graph::evaluate(graph, inputs, states);
    const auto got = graph::evaluate(shorter, inputs, states);
    ASSERT_TRUE(expected && got);
    EXPECT_EQ(graph::difference(*expected, *got, 0), "");
  }
}

TEST(ShortenConstants, PanelsAreFloat16) {
  const Graph graph = shorten_constants(product(DType::F16, 1));
  const loop::Module module = lower({{graph}});
  const auto panels = std::ranges::find_if(module.buffers, [](const loop::Buffer& buffer) {
    return buffer.name.starts_with("t.panels");
  });
  ASSERT_NE(panels, module.buffers.end());
  EXPECT_EQ(panels->dtype, DType::I16);
}

TEST(ShortenConstants, LeavesOtherNumbersAndManyRows) {
  EXPECT_TRUE(shorten_constants(product(DType::F16, 1, 1.0f / 3)).nodes ==
              product(DType::F16, 1, 1.0f / 3).nodes);
  EXPECT_TRUE(shorten_constants(product(DType::F16, 8)).nodes == product(DType::F16, 8).nodes);
}

}  // namespace
}  // namespace lathe::lower::cpu
