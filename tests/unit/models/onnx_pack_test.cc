// Weights as numbers of fewer bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lathe/models/onnx/pack.h"

namespace lathe::onnx {
namespace {

TEST(OnnxPack, HalvesAreRoundedAndRefuseWhatDoesNotFit) {
  const std::vector<float> values = {1, -2, 0.1F, 65504};
  ASSERT_TRUE(fits_halves(values));
  const auto halves = halves_of(values);
  ASSERT_EQ(halves.size(), 8U);
  EXPECT_EQ(halves[1], std::byte{0x3c});
  EXPECT_EQ(halves[3], std::byte{0xc0});
  EXPECT_EQ(halves[4], std::byte{0x66});
  EXPECT_FALSE(fits_halves(std::vector<float>{65505}));
  EXPECT_TRUE(fits_halves(std::vector<float>{-std::numeric_limits<float>::infinity()}));
}

TEST(OnnxPack, BytesHaveAScaleForEachChannel) {
  const std::vector<float> values = {1, 100, -4, 0, 2, -254, 0, 0, 0.5F, 1, 1, 0};
  const Bytes bytes = bytes_of(values, {2, 2, 3}, 1);
  ASSERT_EQ(bytes.scales.size(), 2U);
  EXPECT_FLOAT_EQ(bytes.scales[0], 100.0F / 127);
  EXPECT_FLOAT_EQ(bytes.scales[1], 2);
  EXPECT_EQ(static_cast<int8_t>(bytes.values[1]), 127);
  EXPECT_EQ(static_cast<int8_t>(bytes.values[2]), -5);
  EXPECT_EQ(static_cast<int8_t>(bytes.values[5]), -127);
  EXPECT_EQ(static_cast<int8_t>(bytes.values[4]), 1);
  // A channel of zeros stays zeros.
  EXPECT_EQ(bytes_of(std::vector<float>(4), {2, 2}, 0).scales[1], 1);
}

TEST(OnnxPack, NibblesComeByColumnsAndBlocks) {
  // 33 rows of 2 columns: two blocks, the second with one number.
  std::vector<float> values(66);
  values[0] = -8;   // row 0, column 0
  values[2] = 3;    // row 1, column 0
  values[64] = 16;  // row 32, column 0
  values[1] = 4;    // row 0, column 1
  const Nibbles nibbles = nibbles_of(values, 33, 2);
  ASSERT_EQ(nibbles.scales.size(), 4U);
  EXPECT_EQ(nibbles.scales[0], 1);
  EXPECT_EQ(nibbles.scales[1], -2);
  EXPECT_EQ(nibbles.scales[2], -0.5F);
  EXPECT_EQ(nibbles.scales[3], 1);
  ASSERT_EQ(nibbles.values.size(), 64U);
  EXPECT_EQ(nibbles.values[0], std::byte{0xb0});
  EXPECT_EQ(nibbles.values[1], std::byte{0x88});
  EXPECT_EQ(nibbles.values[16], std::byte{0x80});
  EXPECT_EQ(nibbles.values[32], std::byte{0x80});
}

}  // namespace
}  // namespace lathe::onnx
