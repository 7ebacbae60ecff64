// Malformed bytes: every one is rejected with its offset, and memory use is proportional to the
// input.
#include "lathe/wasm/decode.h"

#include <gtest/gtest.h>

#include "lathe/wasm/byte_reader.h"
#include "lathe/wasm/encode.h"

namespace lathe::wasm {
namespace {

std::vector<uint8_t> with_header(std::vector<uint8_t> sections) {
  std::vector<uint8_t> bytes = {0, 'a', 's', 'm', 1, 0, 0, 0};
  bytes.insert(bytes.end(), sections.begin(), sections.end());
  return bytes;
}

std::string error_of(std::vector<uint8_t> sections) {
  const Result<Module> module = decode(with_header(std::move(sections)));
  return module ? "" : module.error().message;
}

// A module with one function of type [] → [] and this body.
std::string body_error(std::vector<uint8_t> body) {
  std::vector<uint8_t> sections = {1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10};
  sections.push_back(static_cast<uint8_t>(body.size() + 2));
  sections.push_back(1);
  sections.push_back(static_cast<uint8_t>(body.size()));
  sections.insert(sections.end(), body.begin(), body.end());
  return error_of(std::move(sections));
}

TEST(Decode, AcceptsTheEmptyModule) { EXPECT_EQ(error_of({}), ""); }

TEST(Decode, RejectsAWrongHeader) {
  EXPECT_EQ(decode(std::vector<uint8_t>{0, 'a', 's'}).error().message,
            "at offset 0x0: unexpected end: length out of bounds");
  EXPECT_EQ(decode(std::vector<uint8_t>{0, 'a', 's', 'M', 1, 0, 0, 0}).error().message,
            "at offset 0x4: magic header not detected");
  EXPECT_EQ(decode(std::vector<uint8_t>{0, 'a', 's', 'm', 2, 0, 0, 0}).error().message,
            "at offset 0x8: unknown binary version");
}

TEST(Decode, RejectsSectionsOutOfOrder) {
  EXPECT_EQ(error_of({3, 1, 0, 1, 1, 0}),
            "at offset 0xd: unexpected section: out of order or repeated");
  EXPECT_EQ(error_of({1, 1, 0, 1, 1, 0}),
            "at offset 0xd: unexpected section: out of order or repeated");
  EXPECT_EQ(error_of({13, 0}), "at offset 0x9: malformed section id");
}

TEST(Decode, RejectsASectionOfTheWrongSize) {
  EXPECT_EQ(error_of({1, 2, 0, 0}), "at offset 0xb: 1 bytes too many in this section");
  EXPECT_EQ(error_of({1, 9, 0}), "at offset 0xa: unexpected end: length out of bounds");
}

TEST(Decode, DoesNotTrustACount) {
  EXPECT_EQ(error_of({1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f}),
            "at offset 0xf: unexpected end: count out of bounds");
}

TEST(Decode, RejectsUnknownInstructions) {
  EXPECT_EQ(body_error({0, 0x27, 0x0b}), "at offset 0x17: illegal opcode");
  EXPECT_EQ(body_error({0, 0xfd, 0x9a, 0x01, 0x0b}), "at offset 0x17: illegal opcode");
  EXPECT_EQ(body_error({0, 0xfc, 0xff, 0xff, 0x03, 0x0b}), "at offset 0x17: illegal opcode");
}

TEST(Decode, RejectsAnElseWithoutIf) {
  EXPECT_EQ(body_error({0, 0x02, 0x40, 0x05, 0x0b, 0x0b}), "at offset 0x1a: else without if");
}

TEST(Decode, RejectsABodyWithoutEnd) {
  EXPECT_EQ(body_error({0, 0x01}), "at offset 0x18: unexpected end");
  EXPECT_EQ(body_error({0, 0x0b, 0x0b}), "at offset 0x18: 1 bytes too many in this section");
}

TEST(Decode, LimitsLocals) {
  EXPECT_EQ(body_error({1, 0xd0, 0x86, 0x03, 0x7f, 0x0b}), "");  // 50000
  EXPECT_EQ(body_error({1, 0xd1, 0x86, 0x03, 0x7f, 0x0b}), "at offset 0x1b: too many locals");
}

TEST(Decode, NestsWithoutRecursion) {
  std::vector<uint8_t> body = {0};
  constexpr size_t kDepth = 200000;
  for (size_t i = 0; i < kDepth; ++i) body.insert(body.end(), {0x02, 0x40});
  body.insert(body.end(), kDepth + 1, 0x0b);
  Module module;
  module.types = {{}};
  module.functions.resize(1);
  std::vector<Instruction>& list = module.functions[0].code.instructions;
  list.assign(kDepth, {.op = Opcode::block, .value = static_cast<uint64_t>(kEmptyBlock)});
  list.insert(list.end(), kDepth + 1, {.op = Opcode::end});
  const Result<Module> decoded = decode(encode(module));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->functions[0].code.instructions.size(), 2 * kDepth + 1);
}

TEST(Decode, PreservesTheOrderOfCustomSections) {
  const std::vector<uint8_t> bytes =
      with_header({0, 2, 1, 'a', 1, 4, 1, 0x60, 0, 0, 0, 3, 1, 'b', 7, 0, 2, 1, 'c'});
  const Result<Module> module = decode(bytes);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->customs[1].after, Section::type);
  EXPECT_EQ(encode(*module), bytes);
}

TEST(Decode, PreservesAMalformedNameSection) {
  const std::vector<uint8_t> bytes = with_header({0, 7, 4, 'n', 'a', 'm', 'e', 1, 9});
  const Result<Module> module = decode(bytes);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_TRUE(module->names.empty());
  EXPECT_EQ(encode(*module), bytes);
}

TEST(ByteReader, ChecksLengthAndRangeOfIntegers) {
  const auto u32 = [](std::vector<uint8_t> bytes) { return ByteReader(bytes).u32(); };
  const auto s32 = [](std::vector<uint8_t> bytes) { return ByteReader(bytes).s32(); };
  EXPECT_EQ(*u32({0xff, 0xff, 0xff, 0xff, 0x0f}), 0xffffffff);
  EXPECT_EQ(u32({0xff, 0xff, 0xff, 0xff, 0x1f}).error().message,
            "at offset 0x5: integer too large");
  EXPECT_EQ(u32({0x80, 0x80, 0x80, 0x80, 0x80, 0}).error().message,
            "at offset 0x5: integer representation too long");
  EXPECT_EQ(*s32({0x80, 0x80, 0x80, 0x80, 0x78}), INT32_MIN);
  EXPECT_EQ(*s32({0xff, 0xff, 0xff, 0xff, 0x7f}), -1);
  EXPECT_FALSE(s32({0xff, 0xff, 0xff, 0xff, 0x6f}));
  EXPECT_FALSE(s32({0x80, 0x80, 0x80, 0x80, 0x08}));
}

TEST(ByteReader, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("Drehbank – 旋盤 𝔴"));
  EXPECT_FALSE(is_utf8("\xc0\x80"));          // overlong
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(is_utf8("\xe2\x82"));          // truncated
}

}  // namespace
}  // namespace lathe::wasm
