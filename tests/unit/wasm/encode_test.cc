// Code offsets, and what the canonical encoding chooses.
#include "lathe/wasm/encode.h"

#include <gtest/gtest.h>

#include "lathe/wasm/assembler.h"
#include "lathe/wasm/decode.h"

namespace lathe::wasm {
namespace {

TEST(Encode, ReportsInstructionOffsets) {
  ModuleBuilder builder;
  builder.add_custom("before", std::vector<uint8_t>(200), Section::none);
  for (int function = 0; function < 3; ++function) {
    FunctionBuilder& f = builder.add_function("f", {}, {ValType::f32});
    f.add_local(ValType::i32);
    for (int i = 0; i < 100; ++i) f.f32_const(1.0f).op(Opcode::drop);
    f.f32_const(2.0f).f32_const(3.0f).op(Opcode::f32_add);
  }
  const Result<Module> module = builder.finish();
  ASSERT_TRUE(module) << module.error().message;
  CodeOffsets offsets;
  const std::vector<uint8_t> bytes = encode(*module, offsets);
  EXPECT_EQ(bytes, encode(*module));
  ASSERT_EQ(offsets.offsets.size(), 3u);
  for (size_t function = 0; function < 3; ++function) {
    const std::vector<Instruction>& list = module->functions[function].code.instructions;
    ASSERT_EQ(offsets.offsets[function].size(), list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(bytes[offsets.offsets[function][i]], static_cast<uint8_t>(list[i].op));
    }
  }
}

TEST(Encode, IntegersHaveTheirShortestForm) {
  // A type section whose size is encoded in five bytes.
  const std::vector<uint8_t> padded = {0,    'a',  's',  'm',  1, 0, 0,    0, 1,
                                       0x84, 0x80, 0x80, 0x80, 0, 1, 0x60, 0, 0};
  const std::vector<uint8_t> shortest = {0, 'a', 's', 'm', 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0};
  const Result<Module> module = decode(padded);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(encode(*module), shortest);
}

TEST(Encode, WritesADataCountWhenCodeNeedsIt) {
  Module module;
  module.types = {{}};
  module.memories = {{.min = 1}};
  module.data.resize(1);
  module.data[0].mode = SegmentMode::passive;
  module.functions.resize(1);
  module.functions[0].code.instructions = {{.op = Opcode::data_drop}, {.op = Opcode::end}};
  const Result<Module> decoded = decode(encode(module));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_TRUE(decoded->has_data_count);
}

TEST(Encode, RestoresTheDataSection) {
  Module module;
  module.memories = {{.min = 1}};
  module.customs = {{"before", {1}, Section::memory}, {"after", {2}, Section::data}};
  EXPECT_EQ(with_data(encode_without_data(module), {}), encode(module));
  module.data.resize(1);
  module.data[0].offset = constant_code(Opcode::i32_const, 8);
  module.data[0].bytes = std::vector<std::byte>(200);
  const Encoded encoded = encode_without_data(module);
  EXPECT_TRUE(decode(encoded.bytes)->data.empty());
  const Result<Module> decoded = decode(with_data(encoded, module.data));
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->data.size(), 1u);
  EXPECT_EQ(decoded->data[0].bytes, module.data[0].bytes);
  ASSERT_EQ(decoded->customs.size(), 2u);
  EXPECT_EQ(decoded->customs[0].after, Section::memory);
  EXPECT_EQ(decoded->customs[1].after, Section::data);
}

}  // namespace
}  // namespace lathe::wasm
