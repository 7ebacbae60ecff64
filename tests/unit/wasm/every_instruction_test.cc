// One loop over the opcode table for each thing that the table drives.
#include "every_instruction.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "lathe/wasm/decode.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/print.h"
#include "lathe/wasm/validate.h"
#include "temporary_file.h"

namespace lathe::wasm {
namespace {

// The row's enumerator, as its tests are reported.
std::string name_of(const OpcodeInfo& row) { return std::string(row.text()); }

TEST(EveryInstruction, TableIsSortedAndFound) {
  uint32_t last = 0;
  for (const OpcodeInfo& row : all_opcodes()) {
    const auto code = static_cast<uint32_t>(row.op);
    EXPECT_TRUE(last < code || code == 0) << name_of(row);
    EXPECT_EQ(find_opcode(code), &row) << name_of(row);
    last = code;
  }
  EXPECT_EQ(all_opcodes().size(), 526u);
  EXPECT_EQ(find_opcode(0x06), nullptr);
  EXPECT_EQ(find_opcode(0xff), nullptr);
  EXPECT_EQ(find_opcode(0xfdfff), nullptr);
  EXPECT_EQ(find_opcode(UINT32_MAX), nullptr);
}

TEST(EveryInstruction, RoundTripsThroughBytes) {
  for (const OpcodeInfo& row : all_opcodes()) {
    SCOPED_TRACE(name_of(row));
    const Module module = module_of(row);
    const std::vector<uint8_t> bytes = encode(module);
    const Result<Module> decoded = decode(bytes);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->functions[0].code.instructions, module.functions[0].code.instructions);
    EXPECT_EQ(encode(*decoded), bytes);
    EXPECT_EQ(print(*decoded), print(module));
  }
}

TEST(EveryInstruction, ValidatesWithItsFeatureOnly) {
  for (const OpcodeInfo& row : all_opcodes()) {
    SCOPED_TRACE(name_of(row));
    const Module module = module_of(row);
    const Status status = validate(module);
    EXPECT_TRUE(status) << status.error().message;
    EXPECT_TRUE(features_of(module).has(row.feature));
    FeatureSet without = FeatureSet::all();
    without.remove(row.feature);
    EXPECT_FALSE(validate(module, without));
  }
}

TEST(EveryInstruction, RejectsMissingOperands) {
  for (const OpcodeInfo& row : all_opcodes()) {
    if (row.operands().empty()) continue;
    SCOPED_TRACE(name_of(row));
    Module module = module_of(row);
    std::vector<Instruction>& list = module.functions[0].code.instructions;
    while (list.front().op != row.op) list.erase(list.begin());
    const Status status = validate(module);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message.find(name_of(row) + " expects ["), 0u)
        << status.error().message;
  }
}

// The first words of the lines of each function, without the closing parentheses.
std::vector<std::vector<std::string>> mnemonics(const std::string& text) {
  std::vector<std::vector<std::string>> functions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "(func") functions.emplace_back();
    if (functions.empty() || word.starts_with("(")) continue;
    while (word.ends_with(')')) word.pop_back();
    functions.back().push_back(word);
  }
  return functions;
}

TEST(EveryInstruction, IsPrintedLikeWabt) {
  ASSERT_TRUE(has_command("wasm2wat")) << "wasm2wat is not installed: run ./dev setup";
  Module module = module_of(all_opcodes()[0]);
  module.functions.clear();
  for (const OpcodeInfo& row : all_opcodes()) {
    module.functions.push_back(module_of(row).functions[0]);
  }
  const std::string path = write_temporary("rows.wasm", encode(module));
  const std::string theirs = output_of("wasm2wat" + kWabtFlags + path);
  const auto expected = mnemonics(theirs);
  const auto printed = mnemonics(print(module));
  ASSERT_EQ(expected.size(), all_opcodes().size()) << theirs;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(printed[i], expected[i]) << name_of(all_opcodes()[i]);
  }
}

TEST(EveryInstruction, IsReadBackByWabt) {
  ASSERT_TRUE(has_command("wat2wasm")) << "wat2wasm is not installed: run ./dev setup";
  Module module = module_of(all_opcodes()[0]);
  module.functions.clear();
  for (const OpcodeInfo& row : all_opcodes()) {
    module.functions.push_back(module_of(row).functions[0]);
  }
  const std::string text = print(module);
  const std::string source =
      write_temporary("rows.wat", {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  const std::string target = temporary_path("rows_assembled.wasm");
  EXPECT_EQ(output_of("wat2wasm" + kWabtFlags + source + " -o " + target), "");
  std::ifstream file(target, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes, encode(module));
}

}  // namespace
}  // namespace lathe::wasm
