#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace lathe {
namespace {

TEST(Text, ConcatSpellsStringsAndNumbers) {
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

TEST(Text, BracketedSpellsShapes) {
  EXPECT_EQ(bracketed(std::vector<int64_t>{64, 784}), "[64,784]");
  EXPECT_EQ(bracketed(std::vector<int64_t>{}), "[]");
}

}  // namespace
}  // namespace lathe
