#include "lathe/nn/random.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lathe/nn/initializer.h"

namespace lathe::nn {
namespace {

// Test vectors of Random123 (kat_vectors, philox4x32-10).
TEST(Random, PhiloxMatchesThePublishedVectors) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, NormalQuantileInvertsTheDistribution) {
  for (double p = 0x1p-33; p < 1; p = p < 0.01 ? p * 3 : p + 0.0137) {
    const double x = normal_quantile(p);
    EXPECT_NEAR(0.5 * std::erfc(-x / std::sqrt(2.0)), p, 8e-6 * p) << p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_EQ(normal_quantile(0.25), -normal_quantile(0.75));
}

Variable variable(const Choice& initializer, graph::Shape shape, std::string name = "w") {
  return {std::move(name), std::move(shape), *find_initializer(initializer), true};
}

struct Moments {
  double mean = 0, deviation = 0, low = 1e9, high = -1e9;
};

Moments moments(const std::vector<float>& numbers) {
  Moments m;
  for (const float x : numbers) {
    m.mean += x / static_cast<double>(numbers.size());
    m.deviation += static_cast<double>(x) * x / static_cast<double>(numbers.size());
    m.low = std::min<double>(m.low, x);
    m.high = std::max<double>(m.high, x);
  }
  m.deviation = std::sqrt(m.deviation - m.mean * m.mean);
  return m;
}

TEST(Initializer, ConstantsFill) {
  EXPECT_EQ(initial_value(variable("zeros", {2}), 1), (std::vector<float>{0, 0}));
  EXPECT_EQ(initial_value(variable("ones", {}), 1), (std::vector<float>{1}));
  EXPECT_EQ(initial_value(variable({"constant", {{"value", 0.25}}}, {2}), 1),
            (std::vector<float>{0.25f, 0.25f}));
}

TEST(Initializer, UniformLawsHaveTheirLimits) {
  struct Case {
    const char* name;
    double limit;
  };
  for (const Case& c :
       {Case{"glorotUniform", std::sqrt(6.0 / 300)}, Case{"leCunUniform", std::sqrt(3.0 / 100)},
        Case{"heUniform", std::sqrt(6.0 / 100)}, Case{"randomUniform", 0.05}}) {
    const Moments m = moments(initial_value(variable(c.name, {100, 200}), 42));
    EXPECT_NEAR(m.high, c.limit, c.limit * 0.01) << c.name;
    EXPECT_NEAR(m.low, -c.limit, c.limit * 0.01) << c.name;
    EXPECT_NEAR(m.mean, 0, c.limit * 0.02) << c.name;
    EXPECT_NEAR(m.deviation, c.limit / std::sqrt(3.0), c.limit * 0.02) << c.name;
  }
}

TEST(Initializer, NormalLawsHaveTheirDeviations) {
  // A normal variable truncated at two deviations has 0.8796 of the deviation.
  struct Case {
    const char* name;
    double deviation;
    double truncation;
  };
  constexpr double kShrink = 0.87962566;
  for (const Case& c : {Case{"glorotNormal", std::sqrt(2.0 / 300), kShrink},
                        Case{"leCunNormal", std::sqrt(1.0 / 100), kShrink},
                        Case{"heNormal", std::sqrt(2.0 / 100), kShrink},
                        Case{"truncatedNormal", 0.05, kShrink}, Case{"randomNormal", 0.05, 1}}) {
    const Moments m = moments(initial_value(variable(c.name, {100, 200}), 42));
    EXPECT_NEAR(m.deviation, c.deviation * c.truncation, c.deviation * 0.02) << c.name;
    EXPECT_NEAR(m.mean, 0, c.deviation * 0.03) << c.name;
    EXPECT_EQ(m.high <= 2 * c.deviation * 1.000001, c.truncation < 1) << c.name;
  }
}

TEST(Initializer, VarianceScalingUsesModeAndDistribution) {
  const auto deviation = [](const char* mode, const char* distribution) {
    const Choice choice = {"varianceScaling",
                           {{"scale", 3}, {"mode", mode}, {"distribution", distribution}}};
    return moments(initial_value(variable(choice, {100, 200}), 42)).deviation;
  };
  EXPECT_NEAR(deviation("fanIn", "uniform"), std::sqrt(3.0 / 100), 3e-3);
  EXPECT_NEAR(deviation("fanOut", "uniform"), std::sqrt(3.0 / 200), 2e-3);
  EXPECT_NEAR(deviation("fanAvg", "normal"), 0.87962566 * std::sqrt(3.0 / 150), 2e-3);
}

TEST(Initializer, IdentityIsSquare) {
  EXPECT_EQ(initial_value(variable({"identity", {{"gain", 2}}}, {2, 2}), 1),
            (std::vector<float>{2, 0, 0, 2}));
  const auto identity = *find_initializer("identity"), orthogonal = *find_initializer("orthogonal");
  EXPECT_TRUE(check_initializer(identity, {2, 2}));
  EXPECT_FALSE(check_initializer(identity, {2, 3}));
  EXPECT_FALSE(check_initializer(identity, {4}));
  EXPECT_TRUE(check_initializer(orthogonal, {2, 3, 4}));
  EXPECT_FALSE(check_initializer(orthogonal, {4}));
}

TEST(Initializer, OrthogonalVectorsAreOrthogonal) {
  for (const auto& [rows, columns] : {std::pair{9, 5}, std::pair{5, 9}, std::pair{6, 6}}) {
    const auto m =
        initial_value(variable({"orthogonal", {{"gain", 2}}}, {3, rows / 3, columns}), 7);
    const int used = rows / 3 * 3;
    const auto at = [&](int row, int column) { return m[row * columns + column]; };
    const bool by_rows = used < columns;
    const int count = by_rows ? used : columns, length = by_rows ? columns : used;
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j <= i; ++j) {
        double product = 0;
        for (int k = 0; k < length; ++k) {
          product += by_rows ? at(i, k) * at(j, k) : at(k, i) * at(k, j);
        }
        EXPECT_NEAR(product, i == j ? 4 : 0, 1e-5) << i << ' ' << j;
      }
    }
  }
}

TEST(Initializer, AnExplicitSeedDeterminesTheWeights) {
  const Choice seeded = {"glorotUniform", {{"seed", 5}}};
  EXPECT_EQ(initial_value(variable(seeded, {3, 4}), 1),
            initial_value(variable(seeded, {3, 4}, "v"), 2));
  EXPECT_NE(initial_value(variable(seeded, {3, 4}), 1),
            initial_value(variable({"glorotUniform", {{"seed", 6}}}, {3, 4}), 1));
}

TEST(Initializer, DependsOnSeedAndNameOnly) {
  const auto first = initial_value(variable("glorotUniform", {3, 4}), 7);
  EXPECT_EQ(first, initial_value(variable("glorotUniform", {3, 4}), 7));
  EXPECT_NE(first, initial_value(variable("glorotUniform", {3, 4}), 8));
  EXPECT_NE(first, initial_value(variable("glorotUniform", {3, 4}, "v"), 7));
}

TEST(Initializer, NumbersAreTheSameOnEveryMachine) {
  const auto uniform = initial_value(variable("randomUniform", {4}), 42);
  const auto normal = initial_value(variable("randomNormal", {4}), 42);
  EXPECT_EQ(uniform,
            (std::vector<float>{0x1.5db62ap-5, 0x1.853b44p-9, -0x1.747e94p-6, 0x1.70e3ccp-5}));
  EXPECT_EQ(normal,
            (std::vector<float>{0x1.299546p-4, 0x1.e847dep-9, -0x1.ef7922p-6, 0x1.517918p-4}));
}

}  // namespace
}  // namespace lathe::nn
