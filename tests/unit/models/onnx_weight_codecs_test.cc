// Weights as float16, int8 and int4.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lathe/models/onnx/weight_codecs.h"

namespace lathe::onnx {
namespace {

TEST(OnnxWeightCodecs, Float16RoundsAndRejectsOverflow) {
  const std::vector<float> values = {1, -2, 0.1F, 65504};
  ASSERT_TRUE(fits_float16(values));
  const auto packed = to_float16(values);
  ASSERT_EQ(packed.size(), 8U);
  EXPECT_EQ(packed[1], std::byte{0x3c});
  EXPECT_EQ(packed[3], std::byte{0xc0});
  EXPECT_EQ(packed[4], std::byte{0x66});
  EXPECT_FALSE(fits_float16(std::vector<float>{65505}));
  EXPECT_TRUE(fits_float16(std::vector<float>{-std::numeric_limits<float>::infinity()}));
}

TEST(OnnxWeightCodecs, BytesHaveAScaleForEachChannel) {
  const std::vector<float> values = {1, 100, -4, 0, 2, -254, 0, 0, 0.5F, 1, 1, 0};
  const Int8Weights quantized = quantize_int8(values, {2, 2, 3}, 1);
  ASSERT_EQ(quantized.scales.size(), 2U);
  EXPECT_FLOAT_EQ(quantized.scales[0], 100.0F / 127);
  EXPECT_FLOAT_EQ(quantized.scales[1], 2);
  EXPECT_EQ(static_cast<int8_t>(quantized.values[1]), 127);
  EXPECT_EQ(static_cast<int8_t>(quantized.values[2]), -5);
  EXPECT_EQ(static_cast<int8_t>(quantized.values[5]), -127);
  EXPECT_EQ(static_cast<int8_t>(quantized.values[4]), 1);
  // A channel of zeros stays zeros.
  EXPECT_EQ(quantize_int8(std::vector<float>(4), {2, 2}, 0).scales[1], 1);
}

TEST(OnnxWeightCodecs, Int4IsOrderedByColumnAndBlock) {
  // 33 rows of 2 columns: two blocks, the second with one number.
  std::vector<float> values(66);
  values[0] = -8;   // row 0, column 0
  values[2] = 3;    // row 1, column 0
  values[64] = 16;  // row 32, column 0
  values[1] = 4;    // row 0, column 1
  const Int4Weights quantized = quantize_int4(values, 33, 2);
  ASSERT_EQ(quantized.scales.size(), 4U);
  EXPECT_EQ(quantized.scales[0], 1);
  EXPECT_EQ(quantized.scales[1], -2);
  EXPECT_EQ(quantized.scales[2], -0.5F);
  EXPECT_EQ(quantized.scales[3], 1);
  ASSERT_EQ(quantized.values.size(), 64U);
  EXPECT_EQ(quantized.values[0], std::byte{0xb0});
  EXPECT_EQ(quantized.values[1], std::byte{0x88});
  EXPECT_EQ(quantized.values[16], std::byte{0x80});
  EXPECT_EQ(quantized.values[32], std::byte{0x80});
}

}  // namespace
}  // namespace lathe::onnx
