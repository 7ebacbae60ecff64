#include "lathe/formats/protobuf.h"

#include <gtest/gtest.h>

#include <limits>

namespace lathe::formats {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

// The error of reading all fields, with field 4 read as packed or not.
std::string error_of(const Bytes& message) {
  ProtobufReader reader(message, 100);
  std::vector<int64_t> numbers;
  while (reader.next()) {
    if (reader.number() == 4) reader.append_to(numbers);
  }
  const Status status = reader.status();
  return status ? "none" : status.error().message;
}

TEST(Protobuf, reads_what_it_writes) {
  const std::vector<int64_t> numbers = {0, -1, 300, std::numeric_limits<int64_t>::min()};
  const std::vector<float> floats = {0.5f, -3};
  const Bytes raw = bytes_of({9, 8, 7});
  ProtobufWriter inner;
  inner.string(1, "in");
  inner.borrowed(2, raw);
  inner.string(3, "out");
  ProtobufWriter writer;
  writer.varint(1, static_cast<uint64_t>(-2));
  writer.float32(2, 1.5f);
  writer.float64(3, -2.25);
  writer.packed(4, numbers);
  writer.varint(4, 5);
  writer.packed(5, floats);
  writer.float32(5, 7);
  writer.message(6, inner);
  writer.borrowed(536870911, raw);
  const Bytes message = writer.bytes();
  EXPECT_EQ(message.size(), writer.size());

  ProtobufReader reader(message);
  std::vector<int64_t> read_numbers;
  std::vector<float> read_floats;
  std::vector<uint32_t> fields;
  while (reader.next()) {
    fields.push_back(reader.number());
    switch (reader.number()) {
      case 1:
        EXPECT_EQ(reader.int64(), -2);
        EXPECT_EQ(reader.int32(), -2);
        break;
      case 2:
        EXPECT_EQ(reader.float32(), 1.5f);
        break;
      case 3:
        EXPECT_EQ(reader.float64(), -2.25);
        break;
      case 4:
        reader.append_to(read_numbers);
        break;
      case 5:
        reader.append_to(read_floats);
        break;
      case 6: {
        ProtobufReader part = reader.message();
        ASSERT_TRUE(part.next());
        EXPECT_EQ(part.string(), "in");
        ASSERT_TRUE(part.next());
        EXPECT_TRUE(std::ranges::equal(part.bytes(), raw));
        EXPECT_EQ(message[part.offset() + 2], raw[0]);
        ASSERT_TRUE(part.next());
        EXPECT_EQ(part.string(), "out");
        EXPECT_FALSE(part.next());
        break;
      }
    }
  }
  EXPECT_TRUE(reader.status());
  EXPECT_EQ(fields, (std::vector<uint32_t>{1, 2, 3, 4, 4, 5, 5, 6, 536870911}));
  EXPECT_EQ(read_numbers,
            (std::vector<int64_t>{0, -1, 300, std::numeric_limits<int64_t>::min(), 5}));
  EXPECT_EQ(read_floats, (std::vector<float>{0.5f, -3, 7}));
}

// The example of the specification: field 1 is 150; and numbers with more bytes than they need.
TEST(Protobuf, reads_varints_of_any_length) {
  const Bytes message = bytes_of({0x08, 0x96, 0x01, 0x10, 0x81, 0x80, 0x80, 0x00});
  ProtobufReader reader(message);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.uint64(), 150u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.uint64(), 1u);
  EXPECT_TRUE(reader.boolean());
  EXPECT_FALSE(reader.next());
}

TEST(Protobuf, errors_name_byte_and_field) {
  EXPECT_EQ(error_of({}), "none");
  EXPECT_EQ(error_of(bytes_of({0x80})), "protobuf: byte 100: the message ends within a number");
  EXPECT_EQ(error_of(bytes_of({0x08})),
            "protobuf: byte 100: field 1: the message ends within a number");
  EXPECT_EQ(error_of(bytes_of({0x00, 0x00})), "protobuf: byte 100: no field has the number 0");
  EXPECT_EQ(error_of(bytes_of({0x80, 0x80, 0x80, 0x80, 0x10})),
            "protobuf: byte 100: no field has the number 536870912");
  EXPECT_EQ(error_of(bytes_of({0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2})),
            "protobuf: byte 100: field 1: a varint has more than 64 bits");
  EXPECT_EQ(error_of(bytes_of({0x08, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0})),
            "protobuf: byte 100: field 1: a varint has more than 64 bits");
  EXPECT_EQ(error_of(bytes_of({0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})), "none");
  EXPECT_EQ(error_of(bytes_of({0x08, 1, 0x0b})),
            "protobuf: byte 102: field 1: has the wire type 3; groups are not read");
  EXPECT_EQ(error_of(bytes_of({0x0c})),
            "protobuf: byte 100: field 1: has the wire type 4; groups are not read");
  EXPECT_EQ(error_of(bytes_of({0x09, 1, 2, 3, 4, 5, 6, 7})),
            "protobuf: byte 100: field 1: the message ends within a number");
  EXPECT_EQ(error_of(bytes_of({0x0d, 1, 2, 3})),
            "protobuf: byte 100: field 1: the message ends within a number");
  EXPECT_EQ(error_of(bytes_of({0x0a, 3, 1, 2})),
            "protobuf: byte 100: field 1: has 3 bytes, but the message ends after 2");
  EXPECT_EQ(
      error_of(bytes_of({0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})),
      "protobuf: byte 100: field 1: has 18446744073709551615 bytes, but the message ends after 0");
  EXPECT_EQ(error_of(bytes_of({0x22, 2, 1, 0x80})),
            "protobuf: byte 103: field 4: the message ends within a number");
  EXPECT_EQ(error_of(bytes_of({0x25, 1, 2, 3, 4})),
            "protobuf: byte 100: field 4: has the wire type 5, not 0");
}

TEST(Protobuf, values_after_an_error_are_empty) {
  const Bytes message = bytes_of({0x22, 3, 1, 2, 3, 0x08, 1});
  ProtobufReader reader(message);
  ASSERT_TRUE(reader.next());
  std::vector<float> floats;
  reader.append_to(floats);
  EXPECT_TRUE(floats.empty());
  EXPECT_EQ(reader.status().error().message,
            "protobuf: byte 0: field 4: has 3 bytes, no multiple of 4");
  EXPECT_EQ(reader.string(), "");
  EXPECT_EQ(reader.int64(), 0);
  EXPECT_EQ(reader.float64(), 0);
  EXPECT_FALSE(reader.message().next());
  EXPECT_FALSE(reader.message().ok());
  EXPECT_FALSE(reader.next());
}

// Under sanitizers this finds what reads beyond the end.
TEST(Protobuf, corrupt_messages_are_read_or_rejected) {
  ProtobufWriter inner;
  inner.packed(4, std::vector<int64_t>{1, -1, 1 << 20});
  inner.packed(5, std::vector<float>{1, 2});
  inner.float64(7, 3);
  ProtobufWriter writer;
  for (int i = 0; i < 4; ++i) writer.message(6, inner);
  const Bytes original = writer.bytes();
  uint32_t state = 1;
  const auto random = [&state](size_t below) {
    state = state * 1664525 + 1013904223;
    return static_cast<size_t>((uint64_t{state} * below) >> 32);
  };
  int rejected = 0;
  for (int each = 0; each < 5000; ++each) {
    Bytes damaged = original;
    damaged[random(damaged.size())] = static_cast<std::byte>(random(256));
    damaged[random(damaged.size())] = static_cast<std::byte>(random(256));
    if (random(4) == 0) damaged.resize(random(damaged.size()));
    ProtobufReader reader(damaged);
    bool ok = true;
    while (reader.next()) {
      if (reader.type() != WireType::Bytes) continue;
      ProtobufReader part = reader.message();
      std::vector<int64_t> numbers;
      std::vector<float> floats;
      while (part.next()) {
        if (part.number() == 4) part.append_to(numbers);
        if (part.number() == 5) part.append_to(floats);
        if (part.number() == 7) part.float64();
      }
      EXPECT_LE(numbers.size() + floats.size(), damaged.size());
      ok = ok && part.ok();
    }
    rejected += ok && reader.ok() ? 0 : 1;
  }
  EXPECT_GT(rejected, 1000);
  EXPECT_LT(rejected, 5000);
}

}  // namespace
}  // namespace lathe::formats
