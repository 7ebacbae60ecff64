#include "lathe/formats/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lathe/base/text.h"

namespace lathe::formats {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<NamedArray> sample() {
  using graph::Array;
  return {{"dense_1/kernel", Array::of({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6.5})},
          {"ä \"b\"\\", Array::of({0, 4}, std::vector<float>{})},
          {"step", Array::of({}, std::vector<int32_t>{-7})},
          {"mask", {graph::DType::Bool, {3}, {std::byte{1}, std::byte{0}, std::byte{1}}}}};
}

Bytes file_of(std::string_view header, size_t data_size = 0) {
  const uint64_t length = header.size();
  Bytes file(8 + length + data_size);
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), length);
  return file;
}

TEST(Safetensors, reads_what_it_writes) {
  const auto file = write_safetensors(sample());
  uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  const auto read = read_safetensors(file);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), sample().size());
  for (const NamedArray& expected : sample()) {
    const auto found = std::ranges::find(*read, expected.name, &NamedArray::name);
    ASSERT_NE(found, read->end()) << expected.name;
    EXPECT_EQ(found->array.dtype, expected.array.dtype);
    EXPECT_EQ(found->array.shape, expected.array.shape);
    EXPECT_EQ(found->array.data, expected.array.data);
  }
}

TEST(Safetensors, preserves_every_type) {
  for (const graph::DType dtype : scalar::kDTypes) {
    graph::Array array = graph::Array::zeros(dtype, {3});
    scalar::store_element(array.data.data(), scalar::Number::from(dtype, 1));
    const std::vector<NamedArray> arrays = {{"t", array}};
    const auto read = read_safetensors(write_safetensors(arrays));
    ASSERT_TRUE(read) << scalar::text(dtype) << ": " << read.error().message;
    EXPECT_EQ((*read)[0].array.dtype, dtype);
    EXPECT_EQ((*read)[0].array.data, array.data);
  }
}

TEST(Safetensors, errors_name_the_tensor) {
  const auto message = [](std::string_view header, size_t data_size = 0) {
    const auto read = read_safetensors(file_of(header, data_size));
    return read ? std::string("none") : read.error().message;
  };
  const std::string start = "safetensors: the tensor \"t\" ";
  EXPECT_EQ(read_safetensors(Bytes(5)).error().message,
            "safetensors: the file has less than 8 bytes");
  Bytes longer = file_of("{}");
  longer[1] = std::byte{1};
  EXPECT_EQ(read_safetensors(longer).error().message,
            "safetensors: the header of 258 bytes is longer than the file");
  EXPECT_EQ(
      message("{"),
      "safetensors: the header is no JSON object: the text is not JSON: byte 1: expected a key");
  EXPECT_EQ(message("[]"), "safetensors: the header is no JSON object");
  EXPECT_EQ(message(R"({"t":3})"), start + "must be an object");
  EXPECT_EQ(message(R"({"t":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4),
            start + "has no shape");
  EXPECT_EQ(message(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4),
            start + "has no data_offsets");
  EXPECT_EQ(message(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
            start + "of shape [2] has 8 bytes, but its data_offsets are [0,4]");
  EXPECT_EQ(message(R"({"t":{"dtype":"F32","shape":[2000000000,2000000000,2000000000],)"
                    R"("data_offsets":[0,4]}})"),
            start + "is too large");
  EXPECT_EQ(message(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8),
            start + "begins at byte 4 of the data, not 0");
  EXPECT_EQ(message(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4),
            start + "ends at byte 8, the data at 4");
  EXPECT_EQ(message(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 6),
            "safetensors: 2 bytes belong to no tensor");
}

TEST(Safetensors, other_types_are_errors_once_they_are_needed) {
  const auto read =
      read_safetensors(file_of(R"({"t":{"dtype":"F4","shape":[5],"data_offsets":[0,3]},)"
                               R"("u":{"dtype":"I8","shape":[1],"data_offsets":[3,4]}})",
                               4));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(
      check_read((*read)[0]).error().message,
      "safetensors: the tensor \"t\" has the type \"F4\"; supported: BOOL, I8, U8, I16, U16, I32, "
      "U32, I64, U64, F16, BF16, F32, F64, F8_E4M3, F8_E5M2");
  EXPECT_TRUE(check_read((*read)[1]));
}

TEST(Safetensors, float8_becomes_float) {
  Bytes file = file_of(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"F8_E5M2","shape":[4],"data_offsets":[4,8]}})",
                       8);
  constexpr uint8_t kBits[] = {0x38, 0x7e, 0x01, 0x7f, 0x3c, 0xc1, 0x01, 0xfc};
  std::memcpy(file.data() + file.size() - 8, kBits, 8);
  const auto read = read_safetensors(file);
  ASSERT_TRUE(read) << read.error().message;
  const auto value = [&](size_t tensor, int64_t at) { return (*read)[tensor].array[at].f; };
  EXPECT_EQ(value(0, 0), 1);
  EXPECT_EQ(value(0, 1), 448);
  EXPECT_EQ(value(0, 2), 0x1p-9f);
  EXPECT_TRUE(std::isnan(value(0, 3)));
  EXPECT_EQ(value(1, 0), 1);
  EXPECT_EQ(value(1, 1), -2.5f);
  EXPECT_EQ(value(1, 2), 0x1p-16f);
  EXPECT_EQ(value(1, 3), -INFINITY);
}

// Under sanitizers this finds what reads beyond the end.
TEST(Safetensors, corrupt_files_are_read_or_rejected) {
  const Bytes original = write_safetensors(sample());
  uint32_t state = 1;
  const auto random = [&state](size_t below) {
    state = state * 1664525 + 1013904223;
    return static_cast<size_t>((uint64_t{state} * below) >> 32);
  };
  int rejected = 0;
  for (int each = 0; each < 3000; ++each) {
    Bytes file = original;
    for (size_t times = 1 + random(3); times > 0; --times) {
      file[random(file.size())] = std::byte(random(256));
    }
    if (random(4) == 0) file.resize(random(file.size()));
    rejected += read_safetensors(file) ? 0 : 1;
  }
  EXPECT_GT(rejected, 1000);
  EXPECT_LT(rejected, 3000);
}

}  // namespace
}  // namespace lathe::formats
