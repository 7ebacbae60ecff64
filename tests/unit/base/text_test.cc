#include "lathe/base/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

namespace lathe {
namespace {

TEST(Text, ConcatFormatsStringsAndNumbers) {
  EXPECT_EQ(concat("f", 32, 'x', uint64_t{4}, -7), "f32x4-7");
  EXPECT_EQ(concat(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
}

TEST(Text, FloatsReadBackToTheSameNumber) {
  for (float number : {0.1f, 1.0f / 3, 16777216.0f, 1e-40f, -3.0e38f}) {
    EXPECT_EQ(std::strtof(concat(number).c_str(), nullptr), number);
  }
  EXPECT_EQ(concat(0.5f), "0.5");
  EXPECT_EQ(concat(-std::numeric_limits<float>::infinity()), "-inf");
}

template <class T, class Bits>
void check_as_printf(int max_digits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    auto bits = static_cast<Bits>(random());
    if (i % 4 == 0) bits &= ~(~Bits{0} >> 13);  // few digits
    if (i % 5 == 0) bits &= ~Bits{0} >> 9;      // subnormal
    T number = std::bit_cast<T>(bits);
    if (i % 3 == 0) number = static_cast<T>(static_cast<int>(random() % 20'000'000) - 10'000'000);
    if (i % 9 == 0) number /= 1000;
    if (!std::isfinite(number)) continue;
    char expected[40];
    for (int digits = 6; digits <= max_digits; ++digits) {
      std::snprintf(expected, sizeof expected, "%.*g", digits, static_cast<double>(number));
      if (static_cast<T>(std::strtod(expected, nullptr)) == number) break;
    }
    ASSERT_EQ(concat(number), expected);
  }
}

TEST(Text, FloatsAreFormattedLikePrintf) {
  check_as_printf<float, uint32_t>(9);
  check_as_printf<double, uint64_t>(17);
  for (const double number : {0.0, -0.0, 1e22, 1e23, 5e-324, 999999.5, 9999995e-1, 1e-5, 1e300}) {
    char expected[40];
    std::snprintf(expected, sizeof expected, "%g", number);
    if (std::strtod(expected, nullptr) == number) {
      EXPECT_EQ(concat(number), expected);
    }
  }
}

TEST(Text, BracketedFormatsShapes) {
  EXPECT_EQ(bracketed(std::vector<int64_t>{64, 784}), "[64,784]");
  EXPECT_EQ(bracketed(std::vector<int64_t>{}), "[]");
}

}  // namespace
}  // namespace lathe
