#include "lathe/base/decimal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace lathe {
namespace {

void check(const std::string& text) {
  char* expected_end = nullptr;
  const char* end = nullptr;
  const double expected = std::strtod(text.c_str(), &expected_end);
  const double number = parse_decimal(text.c_str(), &end, 53);
  ASSERT_EQ(std::bit_cast<uint64_t>(number), std::bit_cast<uint64_t>(expected)) << text;
  ASSERT_EQ(end, expected_end) << text;
  const auto real = static_cast<float>(parse_decimal(text.c_str(), nullptr, 24));
  ASSERT_EQ(std::bit_cast<uint32_t>(real),
            std::bit_cast<uint32_t>(std::strtof(text.c_str(), nullptr)))
      << text;
}

TEST(Decimal, ReadsWhatTheCLibraryReads) {
  for (const char* text :
       {"0",
        "-0",
        "1",
        "-1.5",
        ".5",
        "5.",
        "1e3",
        "1E+3",
        "1e-3",
        "1e",
        "1e+",
        "1ex",
        "12x",
        "",
        "-",
        ".",
        "x",
        "1.2.3",
        "0.1",
        "1e22",
        "1e23",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e309",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "3.4028235e38",
        "3.4028236e38",
        "1.4e-45",
        "7.006492321624085e-46",
        "7.006492321624086e-46",
        "9007199254740993",
        "9007199254740993.00000000000000000000000000001",
        "16777217",
        "16777217.0000000001",
        "123456789012345678901234567890123456789012345678901234567890e-40",
        "0.000000000000000000000000000000000000000000000000000000000000000000000001e72"}) {
    check(text);
  }
}

TEST(Decimal, ReadsRandomNumbersExactly) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    const auto real = std::bit_cast<float>(static_cast<uint32_t>(random()));
    char text[60];
    if (std::isfinite(number)) {
      std::snprintf(text, sizeof text, "%.*e", static_cast<int>(random() % 25), number);
      check(text);
    }
    if (std::isfinite(real)) {
      std::snprintf(text, sizeof text, "%.*g", static_cast<int>(random() % 12), real);
      check(text);
    }
  }
}

}  // namespace
}  // namespace lathe
