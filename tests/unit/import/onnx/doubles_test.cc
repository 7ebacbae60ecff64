// Functions of 64-bit floats against those of the C library.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "operate.h"

namespace lathe::onnx {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// 13 digits; what is not finite, and zeros, are the same.
void expect_equal(const std::string& what, double x, double actual, double expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what << ' ' << x << " results in " << actual;
  } else if (std::isinf(expected) || expected == 0) {
    EXPECT_EQ(actual, expected) << what << ' ' << x;
  } else {
    EXPECT_NEAR(actual / expected, 1, 1e-13) << what << ' ' << x << " results in " << actual;
  }
}

void check(const std::string& op, double (*function)(double), double low, double high) {
  Numbers values{0, low, high, kNan};
  for (int k = 0; k < 400; ++k) {
    values.push_back(low + (high - low) * (k + 0.37) / 400);
    const double small = std::ldexp(k % 2 == 0 ? 1.3 : -1.7, -k / 4);
    if (small >= low && small <= high) values.push_back(small);
  }
  const auto count = static_cast<int64_t>(values.size());
  const Numbers actual = numbers_of(Node(op), {typed(Type::Float64, {count}, values)});
  ASSERT_EQ(actual.size(), values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    expect_equal(op, values[k], actual[k], function(values[k]));
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Doubles, Functions) {
  check("Exp", std::exp, -700, 709);
  check("Log", std::log, 0, 1e300);
  check("Sinh", std::sinh, -700, 700);
  check("Cosh", std::cosh, -700, 700);
  check("Tanh", std::tanh, -30, 30);
  check("Asinh", std::asinh, -1e5, 1e200);
  check("Acosh", std::acosh, 1, 1e12);
  check("Atanh", std::atanh, -1, 1);
  check("Asin", std::asin, -1, 1);
  check("Acos", std::acos, -1, 1);
  check("Atan", std::atan, -50, 50);
  check("Sigmoid", sigmoid, -40, 40);
  check("Erf", std::erf, -7, 7);
}

// Near their zeros the rounding of the angle matters.
TEST(Doubles, Angles) {
  Numbers values;
  for (int k = -3000; k < 3000; ++k) values.push_back(k * 0.731 + 0.1);
  const Value x = typed(Type::Float64, {static_cast<int64_t>(values.size())}, values);
  const Numbers sine = numbers_of(Node("Sin"), {x}), cosine = numbers_of(Node("Cos"), {x});
  const Numbers tangent = numbers_of(Node("Tan"), {x});
  for (size_t k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(sine[k], std::sin(values[k]), 1e-15) << values[k];
    EXPECT_NEAR(cosine[k], std::cos(values[k]), 1e-15) << values[k];
    EXPECT_NEAR(tangent[k] / std::tan(values[k]), 1, 1e-12) << values[k];
  }
}

TEST(Doubles, LargeAngles) {
  Numbers values{1048576.5, 1.7e9, 1.7e12, 1.7e18, 1e22, 1e300, std::numeric_limits<double>::max()};
  for (int exponent = 19; exponent < 1024; ++exponent) {
    values.push_back(std::ldexp(1.0 + (exponent * 389 % 997) / 997.0, exponent));
  }
  for (size_t k = 0; k < values.size(); k += 3) values[k] = -values[k];
  const Value x = typed(Type::Float64, {static_cast<int64_t>(values.size())}, values);
  const Numbers sine = numbers_of(Node("Sin"), {x}), cosine = numbers_of(Node("Cos"), {x});
  for (size_t k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(sine[k], std::sin(values[k]), 1e-15) << values[k];
    EXPECT_NEAR(cosine[k], std::cos(values[k]), 1e-15) << values[k];
  }
}

TEST(Doubles, RemaindersAreExact) {
  const double least = std::numeric_limits<double>::denorm_min();
  const double largest = std::numeric_limits<double>::max();
  const Numbers xs{1e15, -1e15, 7.5, -7.5, 0, 1, 1e300, largest, largest, 5, kInfinity, kNan, 9e18};
  const Numbers ys{3, 3, 2, 2, 3, kInfinity, 7, 3, 3 * least, 0, 2, 1, 10};
  const auto fmod_of = [](const Numbers& x, const Numbers& y) {
    const auto count = static_cast<int64_t>(x.size());
    const Numbers actual =
        numbers_of(Node("Mod").with("fmod", int64_t{1}),
                   {typed(Type::Float64, {count}, x), typed(Type::Float64, {count}, y)});
    for (size_t k = 0; k < x.size(); ++k) {
      const double expected = std::fmod(x[k], y[k]);
      const bool is_nan = std::isnan(expected) && std::isnan(actual[k]);
      EXPECT_TRUE(is_nan || actual[k] == expected)
          << x[k] << ' ' << y[k] << " results in " << actual[k];
    }
  };
  fmod_of(xs, ys);
  for (size_t k = 0; k < xs.size(); ++k) fmod_of({xs[k]}, {ys[k]});
  Numbers x, y;
  for (int k = 0; k < 2000; ++k) {
    const double digits = 1 + (k * 7919 % 99991) / 99991.0;
    x.push_back(std::ldexp(digits * (k % 2 == 0 ? 1 : -1), k * 613 % 2046 - 1022));
    y.push_back(std::ldexp(3 - digits, k * 271 % 2046 - 1022));
  }
  fmod_of(x, y);
}

TEST(Doubles, Powers) {
  const Numbers bases{2, -2, 0, 0, 0.5, 3, -3, 1, 10, -1.5, kInfinity, 0.1};
  const Numbers exponents{10, 3, 0, -1, 0.5, 2.25, 2, kInfinity, -300, 0.5, -1, 300};
  const auto count = static_cast<int64_t>(bases.size());
  const Numbers actual = numbers_of(Node("Pow"), {typed(Type::Float64, {count}, bases),
                                                  typed(Type::Float64, {count}, exponents)});
  for (size_t k = 0; k < bases.size(); ++k) {
    expect_equal("pow", bases[k], actual[k], std::pow(bases[k], exponents[k]));
  }
}

TEST(Doubles, Ends) {
  const Numbers values{kInfinity, -kInfinity, 800, -800, -1};
  const Value x = typed(Type::Float64, {5}, values);
  const Numbers exp = numbers_of(Node("Exp"), {x}), log = numbers_of(Node("Log"), {x});
  for (size_t k = 0; k < values.size(); ++k) {
    expect_equal("exp", values[k], exp[k], std::exp(values[k]));
    expect_equal("log", values[k], log[k], std::log(values[k]));
  }
}

}  // namespace
}  // namespace lathe::onnx
