// Random numbers: the published answers of the generator, and the laws of what is made of it.
#include "lathe/ops/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;
using Words = std::vector<uint32_t>;

Words block(Words key, Words counter) {
  Builder builder("test");
  const auto word = [&](uint32_t value) {
    return builder.full({}, scalar::Number::of(static_cast<int32_t>(value)));
  };
  const WordPair words =
      threefry({word(key[0]), word(key[1])}, {word(counter[0]), word(counter[1])});
  builder.output("first", words.first);
  builder.output("second", words.second);
  const auto graph = std::move(builder).finish();
  std::map<std::string, graph::Array> states;
  const auto outputs = graph::evaluate(*graph, {}, states);
  return {static_cast<uint32_t>(outputs->at("first")[0].i),
          static_cast<uint32_t>(outputs->at("second")[0].i)};
}

// Test vectors of Random123 (kat_vectors, threefry2x32 with 20 rounds).
TEST(Random, ThreefryMatchesThePublishedVectors) {
  EXPECT_EQ(block({0, 0}, {0, 0}), (Words{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(block({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(block({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}),
            (Words{0xc4923a9c, 0x483df7a0}));
}

constexpr int kCount = 20000;

struct Moments {
  double mean = 0, deviation = 0, low = 1e9, high = -1e9, skew = 0, correlation = 0;
};

Moments moments(const Floats& numbers) {
  Moments m;
  const auto count = static_cast<double>(numbers.size());
  for (const float x : numbers) m.mean += x / count;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double d = numbers[i] - m.mean;
    m.deviation += d * d / count;
    m.skew += d * d * d / count;
    if (i > 0) m.correlation += d * (numbers[i - 1] - m.mean) / count;
    m.low = std::min<double>(m.low, numbers[i]);
    m.high = std::max<double>(m.high, numbers[i]);
  }
  m.correlation /= m.deviation;
  m.deviation = std::sqrt(m.deviation);
  m.skew /= m.deviation * m.deviation * m.deviation;
  return m;
}

Tensor seed(Builder& b) { return b.input("seed", DType::I32, {2}); }
Inputs seeds(int32_t first, int32_t second) {
  return {{"seed", Array::of({2}, Ints{first, second})}};
}

TEST(Random, UniformNumbersFillTheirInterval) {
  const Floats x =
      run([](Builder& b) { return random_uniform(seed(b), {kCount}, 2, 6); }, seeds(1, 2));
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, 4, 0.03);
  EXPECT_NEAR(m.deviation, 4 / std::sqrt(12.0), 0.02);
  EXPECT_NEAR(m.correlation, 0, 0.02);
  EXPECT_GE(m.low, 2);
  EXPECT_LT(m.low, 2.001);
  EXPECT_LT(m.high, 6);
  EXPECT_GT(m.high, 5.999);
}

TEST(Random, NormalNumbersFollowTheirLaw) {
  Floats x = run([](Builder& b) { return random_normal(seed(b), {kCount}, 0, 1); }, seeds(-7, 11));
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, 0, 0.02);
  EXPECT_NEAR(m.deviation, 1, 0.02);
  EXPECT_NEAR(m.skew, 0, 0.05);
  EXPECT_NEAR(m.correlation, 0, 0.02);
  std::ranges::sort(x);
  for (size_t i = 200; i < x.size(); i += 200) {
    const double share = static_cast<double>(i) / kCount;
    EXPECT_NEAR(0.5 * std::erfc(-x[i] / std::sqrt(2.0)), share, 0.012) << i;
  }
  const Moments truncated = moments(
      run([](Builder& b) { return truncated_normal(seed(b), {kCount}, 1, 0.5f); }, seeds(3, 4)));
  EXPECT_NEAR(truncated.mean, 1, 0.01);
  EXPECT_NEAR(truncated.deviation, 0.5 * 0.87962566, 0.01);
  EXPECT_GE(truncated.low, 0);
  EXPECT_LE(truncated.high, 2);
}

TEST(Random, SeedsDetermineTheNumbers) {
  const auto build = [](Builder& b) { return random_uniform(seed(b), {8}, 0, 1); };
  const Floats x = run(build, seeds(1, 2));
  EXPECT_EQ(x, run(build, seeds(1, 2)));
  EXPECT_NE(x, run(build, seeds(2, 2)));
  EXPECT_NE(x, run(build, seeds(1, 3)));
  const auto single = [](Builder& b) {
    return random_uniform(b.input("s", DType::I32, {}), {8}, 0, 1);
  };
  EXPECT_EQ(run(build, seeds(5, 0)), run(single, {{"s", Array::of({}, Ints{5})}}));
}

TEST(RandomErrors, NameTheSeed) {
  EXPECT_EQ(message_of(
                [](Builder& b) { return random_normal(b.input("s", DType::F32, {3}), {8}, 0, 1); }),
            "random_normal: the seed must be i32 of shape [] or [2], not f32[3]");
}

}  // namespace
}  // namespace lathe::ops
