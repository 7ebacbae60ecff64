// The table of facts, and its index by code.
#include "lathe/wasm/opcode.h"

#include <array>
#include <bit>

#include "lathe/base/check.h"

namespace lathe::wasm {
namespace {

constexpr OpcodeInfo make_info(uint32_t code, Immediate immediate, std::string_view signature,
                               Feature feature) {
  OpcodeInfo row = {.op = static_cast<Opcode>(code), .immediate = immediate, .feature = feature};
  row.is_special = signature == "*";
  const size_t space = signature.find(' ');
  if (space != std::string_view::npos) {
    for (char digit : signature.substr(space + 1)) {
      row.width = static_cast<uint8_t>(row.width * 10 + (digit - '0'));
    }
  }
  return row;
}

constexpr OpcodeInfo kRows[] = {
#define LATHE_WASM_OP(group_, name_, text_, code_, immediate_, signature_, feature_) \
  make_info(code_, Immediate::immediate_, signature_, Feature::feature_),
#include "lathe/wasm/opcodes.def"
};

struct Words {
  std::string_view text, operands, results;
};

constexpr Words make_words(std::string_view text, std::string_view signature) {
  if (signature == "*") return {text, {}, {}};
  const size_t colon = signature.find(':');
  const size_t space = signature.find(' ');
  return {text, signature.substr(0, colon), signature.substr(colon + 1, space - colon - 1)};
}

// Of the same rows.
constexpr Words kWords[] = {
#define LATHE_WASM_OP(group_, name_, text_, code_, immediate_, signature_, feature_) \
  make_words(text_, signature_),
#include "lathe/wasm/opcodes.def"
};

constexpr uint16_t kNone = 0xffff;
constexpr uint32_t kFirstPrefix = 0xfc;
constexpr std::array<uint32_t, 4> kPlaneStart = {0, 0x100, 0x120, 0x240};
constexpr uint32_t kPlaneEnd = 0x290;

// One plane for the one-byte opcodes and one for each prefix; kNone if the code fits none.
constexpr uint32_t slot_of(uint32_t code) {
  const uint32_t prefix = code >> kPrefixShift;
  if (prefix != 0 && (prefix < kFirstPrefix || prefix > 0xfe)) return kNone;
  const uint32_t plane = prefix == 0 ? 0 : prefix - kFirstPrefix + 1;
  const uint32_t slot = kPlaneStart[plane] + (code & ((1u << kPrefixShift) - 1));
  const uint32_t plane_end = plane == 3 ? kPlaneEnd : kPlaneStart[plane + 1];
  return slot < plane_end ? slot : kNone;
}

constexpr auto make_index() {
  std::array<uint16_t, kPlaneEnd> index = {};
  for (uint16_t& row : index) row = kNone;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    index[slot_of(static_cast<uint32_t>(kRows[i].op))] = static_cast<uint16_t>(i);
  }
  return index;
}
constexpr auto kIndex = make_index();

}  // namespace

std::string_view OpcodeInfo::text() const { return kWords[this - kRows].text; }
std::string_view OpcodeInfo::operands() const { return kWords[this - kRows].operands; }
std::string_view OpcodeInfo::results() const { return kWords[this - kRows].results; }

uint32_t OpcodeInfo::natural_align() const {
  return width == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(width));
}

std::span<const OpcodeInfo> all_opcodes() { return kRows; }

const OpcodeInfo* find_opcode(uint32_t code) {
  const uint32_t slot = slot_of(code);
  if (slot == kNone || kIndex[slot] == kNone) return nullptr;
  return &kRows[kIndex[slot]];
}

const OpcodeInfo& info(Opcode op) {
  const OpcodeInfo* row = find_opcode(static_cast<uint32_t>(op));
  LATHE_CHECK(row != nullptr);
  return *row;
}

}  // namespace lathe::wasm
