#include "lathe/scalar/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace lathe::scalar::number_test {
namespace {

float value_of_bits(DType dtype, uint32_t bits) { return Number::from_bits(dtype, bits).f; }
uint64_t bits_of(double value, DType dtype) { return cast(Number::of(value), dtype).bits(); }
uint64_t bits_of(float value, DType dtype) { return cast(Number::of(value), dtype).bits(); }

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t integer(double value, DType dtype) { return cast(Number::of(value), dtype).i; }

TEST(DTypes, TextsAreDistinctAndRead) {
  for (const DType dtype : kDTypes) EXPECT_EQ(dtype_of(text(dtype)), dtype);
  EXPECT_EQ(dtype_of("f31"), std::nullopt);
}

TEST(DTypes, WhatIsComputedInIsComputedInItself) {
  for (const DType dtype : kDTypes) {
    EXPECT_TRUE(is_computed(computed(dtype))) << text(dtype);
    EXPECT_EQ(is_float(computed(dtype)), is_float(dtype)) << text(dtype);
    EXPECT_GE(size_of(computed(dtype)), size_of(dtype)) << text(dtype);
  }
}

// Every value of the formats: widened by its definition, and back.
TEST(Half, EveryValueRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = value_of_bits(DType::F16, bits);
    const int exponent = static_cast<int>(bits >> 10 & 31),
              fraction = static_cast<int>(bits & 1023);
    const double magnitude = exponent == 31  ? (fraction == 0 ? kInfinity : std::nan(""))
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    if (std::isnan(magnitude)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(cast(Number::of(value), DType::F16).f)) << bits;
      continue;
    }
    EXPECT_EQ(value, bits >> 15 != 0 ? -magnitude : magnitude) << bits;
    EXPECT_EQ(bits_of(value, DType::F16), bits);
  }
}

TEST(BHalf, EveryValueRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = value_of_bits(DType::BF16, bits);
    EXPECT_EQ(std::bit_cast<uint32_t>(value), bits << 16);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(cast(Number::of(value), DType::BF16).f)) << bits;
    } else {
      EXPECT_EQ(bits_of(value, DType::BF16), bits);
    }
  }
}

// Between two neighbours the nearer wins, in the middle the even one; also from 64 bits, a trace
// next to the middle.
void rounds_to_nearest(DType dtype, uint32_t last) {
  for (uint32_t low = 0; low < last; ++low) {
    const uint32_t high = low + 1;
    const double middle =
        (static_cast<double>(value_of_bits(dtype, low)) + value_of_bits(dtype, high)) / 2;
    const uint32_t even = low % 2 == 0 ? low : high;
    EXPECT_EQ(bits_of(static_cast<float>(middle), dtype), even) << low;
    EXPECT_EQ(bits_of(middle, dtype), even) << low;
    EXPECT_EQ(bits_of(std::nextafter(middle, kInfinity), dtype), high) << low;
    EXPECT_EQ(bits_of(std::nextafter(middle, -kInfinity), dtype), low) << low;
    EXPECT_EQ(bits_of(-std::nextafter(middle, kInfinity), dtype), high | 0x8000) << low;
  }
}

TEST(Half, RoundsToNearest) { rounds_to_nearest(DType::F16, 0x7bff); }
TEST(BHalf, RoundsToNearest) { rounds_to_nearest(DType::BF16, 0x7f7f); }

TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(bits_of(65519.996f, DType::F16), 0x7bff);
  EXPECT_EQ(bits_of(65520.0f, DType::F16), 0x7c00);
  EXPECT_EQ(bits_of(65519.99999, DType::F16), 0x7bff);
  EXPECT_EQ(bits_of(1e300, DType::F16), 0x7c00);
  EXPECT_EQ(bits_of(-kInfinity, DType::F16), 0xfc00);
  EXPECT_EQ(bits_of(std::numeric_limits<float>::max(), DType::BF16), 0x7f80);
}

TEST(Cast, FloatsSaturateAndNanIsZero) {
  EXPECT_EQ(integer(-2.9, DType::I8), -2);
  EXPECT_EQ(integer(1e9, DType::I8), 127);
  EXPECT_EQ(integer(-1e9, DType::I8), -128);
  EXPECT_EQ(integer(-1.5, DType::U8), 0);
  EXPECT_EQ(integer(300, DType::U8), 255);
  EXPECT_EQ(integer(-0.5, DType::U32), 0);
  EXPECT_EQ(integer(4294967295.5, DType::U32), 4294967295);
  EXPECT_EQ(integer(kInfinity, DType::I64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(integer(-kInfinity, DType::I64), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(static_cast<uint64_t>(integer(1e300, DType::U64)),
            std::numeric_limits<uint64_t>::max());
  for (const DType dtype : kDTypes) {
    if (!is_integer(dtype)) continue;
    EXPECT_EQ(integer(std::nan(""), dtype), 0) << text(dtype);
  }
  EXPECT_EQ(integer(std::nan(""), DType::Bool), 1);
}

TEST(Cast, IntegersWrap) {
  EXPECT_EQ(cast(Number::of(int32_t{200}), DType::I8).i, -56);
  EXPECT_EQ(cast(Number::of(int32_t{-1}), DType::U16).i, 65535);
  EXPECT_EQ(cast(Number::of(int32_t{-1}), DType::U32).i, 4294967295);
  EXPECT_EQ(cast(Number::of(int64_t{1} << 32), DType::I32).i, 0);
  EXPECT_EQ(cast(Number::of(int64_t{-5}), DType::U64).i, -5);
  EXPECT_EQ(cast(Number::of(int64_t{1} << 40), DType::Bool).i, 1);
}

TEST(Cast, RoundsOnce) {
  // Just above the middle of two f32: rounding to 53 bits first would fall onto it.
  const int64_t large = (int64_t{1} << 62) + (int64_t{1} << 38) + 1;
  EXPECT_EQ(cast(Number::of(large), DType::F32).f, 0x1.000002p62f);
  EXPECT_EQ(cast(Number::of(~uint64_t{0}), DType::F64).d, 0x1p64);
  // The same on the way to 11 bits.
  EXPECT_EQ(cast(Number::of(1 + 0x1p-11 + 0x1p-40), DType::F16).f, 1 + 0x1p-10f);
  EXPECT_EQ(cast(Number::of(int32_t{2049}), DType::F16).f, 2048);
  EXPECT_EQ(cast(Number::of(-(int64_t{257} << 53)), DType::BF16).f, -0x1p61f);
}

TEST(Numbers, AreStoredAsTheirType) {
  for (const DType dtype : kDTypes) {
    for (const double value : {0.0, 1.0, 5.0, 100.0, -1.0, -100.0, 0.15625}) {
      const Number number = cast(Number::of(value), dtype);
      std::byte bytes[8] = {};
      store_element(bytes, number);
      EXPECT_TRUE(load_element(dtype, bytes).same_bits(number)) << text(dtype) << ' ' << value;
      for (int i = size_of(dtype); i < 8; ++i) EXPECT_EQ(bytes[i], std::byte{0});
    }
  }
}

}  // namespace
}  // namespace lathe::scalar::number_test
