// print and parse: each undoes the other.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/parse.h"
#include "lathe/graph/print.h"
#include "random_graph.h"

namespace lathe::graph {
namespace {

void expect_same(const Graph& x, const Graph& y) {
  EXPECT_EQ(x.name, y.name);
  ASSERT_EQ(x.nodes.size(), y.nodes.size());
  for (size_t i = 0; i < x.nodes.size(); ++i) EXPECT_TRUE(x.nodes[i] == y.nodes[i]) << i;
  EXPECT_EQ(print(x), print(y));
}

TEST(TextForm, RandomGraphsReadBack) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Graph graph = RandomGraph(seed).make(20);
    const auto parsed = parse(print(graph));
    ASSERT_TRUE(parsed) << seed << ": " << parsed.error().message;
    expect_same(*parsed, graph);
  }
}

TEST(TextForm, NoBitOfAConstantIsLost) {
  Builder b("constants");
  const float inf = std::numeric_limits<float>::infinity();
  for (float value : {0.1f, -0.0f, 1e-45f, 3.4e38f, inf, -inf, std::nanf(""), -std::nanf("77"),
                      std::bit_cast<float>(0x7f800001)}) {
    b.full({3}, scalar::Number::of(value));
  }
  b.full({}, scalar::Number::of(std::numeric_limits<int32_t>::min()));
  b.full({2}, scalar::Number::of(true));
  std::vector<std::byte> noise;
  for (int i = 0; i < 400; ++i) noise.push_back(static_cast<std::byte>(i * 37));
  b.constant(DType::F32, {100}, noise);
  b.constant(DType::F32, {4}, {noise.begin(), noise.begin() + 16});
  b.constant(DType::I32, {0}, {});
  const Graph graph = *std::move(b).finish();
  const auto parsed = parse(print(graph));
  ASSERT_TRUE(parsed) << parsed.error().message;
  expect_same(*parsed, graph);
}

TEST(TextForm, NamesCanContainAnyCharacter) {
  Builder b("a \"b\" \\ \n\x01 é");
  b.input("new\nline", DType::F32, {});
  const Graph graph = *std::move(b).finish();
  const auto parsed = parse(print(graph));
  ASSERT_TRUE(parsed) << parsed.error().message;
  expect_same(*parsed, graph);
}

// No prefix and no damaged byte may do worse than fail.
TEST(TextForm, PartsReadBackAndChangeNoMeaning) {
  const auto build = [](bool records) {
    Builder b("parts");
    if (records) b.record_parts();
    const Tensor x = b.input("x", DType::F32, {2});
    b.begin_part("forward", "dense_1");
    const Tensor y = x * 2.0f;
    b.begin_gradient_of(y.value);
    b.output("z", y + x);
    return *std::move(b).finish();
  };
  const Graph graph = build(true), plain = build(false);
  EXPECT_EQ(graph[graph.outputs[0].value].part.name, "backward dense_1");
  EXPECT_TRUE(graph.nodes == plain.nodes);
  EXPECT_EQ(print(plain).find("part \""), std::string::npos);
  const auto parsed = parse(print(graph));
  ASSERT_TRUE(parsed) << parsed.error().message;
  expect_same(*parsed, graph);
  EXPECT_EQ((*parsed)[parsed->outputs[0].value].part.name, "backward dense_1");
}

TEST(TextForm, RejectsCorruptText) {
  const std::string text = print(RandomGraph(3).make(20));
  for (size_t size = 0; size < text.size(); size += 7) {
    EXPECT_FALSE(parse(text.substr(0, size)));
  }
  RandomGraph random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = text;
    damaged[random.below(static_cast<int>(text.size()))] = static_cast<char>(random.below(128));
    (void)parse(damaged);
  }
}

}  // namespace
}  // namespace lathe::graph
