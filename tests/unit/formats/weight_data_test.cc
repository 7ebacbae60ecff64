#include "lathe/formats/weight_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "lathe/base/text.h"

namespace lathe::formats::weight_data_test {
namespace {

using graph::Array;

std::vector<NamedArray> sample() {
  return {{"a/kernel", Array::of({2, 2}, std::vector<float>{-1, 0, 0.5f, 3})},
          {"a/\"b\"", Array::of({0, 3}, std::vector<float>{})},
          {"steps", Array::of({}, std::vector<int32_t>{-7})},
          {"mask", {graph::DType::Bool, {3}, {std::byte{1}, std::byte{0}, std::byte{1}}}}};
}

std::vector<WeightSpec> specs_of(const std::string& text) {
  const auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  auto specs = read_specs(*json);
  EXPECT_TRUE(specs) << specs.error().message;
  return std::move(*specs);
}

TEST(WeightData, ReadsWhatItWrites) {
  const std::vector<NamedArray> gathered = {
      {"a/kernel/m", Array::of({1}, std::vector<float>{0.1f})}};
  const auto encoded = encode_weights(sample(), gathered, Bits::All);
  ASSERT_TRUE(encoded);
  const auto specs = specs_of(encoded->specs);
  EXPECT_EQ(specs.back().group, "optimizer");
  const auto read = decode_weights(specs, encoded->data);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 5u);
  for (size_t i = 0; i < sample().size(); ++i) {
    EXPECT_EQ((*read)[i].name, sample()[i].name);
    EXPECT_EQ((*read)[i].array.dtype, sample()[i].array.dtype);
    EXPECT_EQ((*read)[i].array.shape, sample()[i].array.shape);
    EXPECT_EQ((*read)[i].array.data, sample()[i].array.data);
  }
}

TEST(WeightData, QuantizesFloats) {
  std::vector<float> values = {0};
  for (int i = 0; i < 200; ++i) values.push_back(std::sin(static_cast<float>(i)) * 3 - 1);
  const std::vector<NamedArray> arrays = {{"w", Array::of({201}, values)}};
  const auto error_of = [&](Bits bits) {
    const auto encoded = encode_weights(arrays, {}, bits);
    EXPECT_TRUE(encoded);
    const auto read = decode_weights(specs_of(encoded->specs), encoded->data);
    EXPECT_TRUE(read);
    EXPECT_EQ((*read)[0].array[0].f, 0.0f) << "zero stays zero";
    double max_error = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const float back = (*read)[0].array[static_cast<int64_t>(i)].f;
      max_error = std::max<double>(max_error, std::abs(back - values[i]));
    }
    return max_error;
  };
  EXPECT_LE(error_of(Bits::UInt8), 6.0 / 255);
  EXPECT_LE(error_of(Bits::UInt16), 6.0 / 65535);
  EXPECT_LE(error_of(Bits::Float16), 4.0 / 1024);
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<NamedArray> wrong = {{"w", Array::of({1}, std::vector<float>{infinity})}};
  EXPECT_FALSE(encode_weights(wrong, {}, Bits::UInt8));
  const std::vector<NamedArray> large = {{"w", Array::of({1}, std::vector<float>{70000})}};
  EXPECT_EQ(encode_weights(large, {}, Bits::Float16).error().message,
            "the tensor w has 70000, which float16 cannot represent");
}

TEST(WeightData, RoundsStoredIntegers) {
  const auto specs = specs_of(
      R"([{"name":"n","shape":[2],"dtype":"int32","quantization":{"dtype":"uint8","scale":0.5,"min":-2}}])");
  const auto read = decode_weights(specs, std::vector<std::byte>{std::byte{5}, std::byte{0}});
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[0].array[0].i, 1);
  EXPECT_EQ((*read)[0].array[1].i, -2);
}

TEST(WeightData, ErrorsNameTheTensor) {
  const auto message = [](const char* text) {
    const auto read = read_specs(*Json::parse(text));
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_EQ(message("{}"), "weight specifications are missing");
  EXPECT_EQ(message(R"([{"shape":[]}])"), "a tensor has no name that is a string");
  EXPECT_EQ(message(R"([{"name":"t","shape":[-1]}])"), "the tensor \"t\" has no shape, but [-1]");
  EXPECT_EQ(message(R"([{"name":"t","shape":[70000,70000],"dtype":"float32"}])"),
            "the tensor \"t\" is too large");
  EXPECT_EQ(message(R"([{"name":"t","shape":[],"dtype":"string"}])"),
            "the tensor \"t\" has the dtype \"string\"; supported: float32, int32, bool");
  EXPECT_EQ(
      message(R"([{"name":"t","shape":[],"dtype":"bool"},{"name":"t","shape":[],"dtype":"bool"}])"),
      "the tensor \"t\" occurs twice");
  EXPECT_EQ(message(R"([{"name":"t","shape":[],"dtype":"float32","quantization":{"dtype":"u4"}}])"),
            "the tensor \"t\" is stored as \"u4\"; supported: float16, uint16, uint8");
  EXPECT_EQ(
      message(R"([{"name":"t","shape":[],"dtype":"float32","quantization":{"dtype":"uint8"}}])"),
      "the tensor \"t\" is stored as uint8 without scale and min");
  const auto specs = specs_of(R"([{"name":"t","shape":[1000000],"dtype":"float32"}])");
  EXPECT_EQ(decode_weights(specs, std::vector<std::byte>(8)).error().message,
            "it ends after 8 bytes, within the tensor t, which ends at byte 4000000");
  EXPECT_EQ(decode_weights({}, std::vector<std::byte>(8)).error().message,
            "it has 8 bytes, but its tensors have 0");
}

}  // namespace
}  // namespace lathe::formats::weight_data_test
