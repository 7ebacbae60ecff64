// Prints instructions and their immediates (core specification, chapter 6.5).
#include "lathe/wasm/print_code.h"

#include <bit>
#include <set>

#include "lathe/base/text.h"
#include "lathe/wasm/print.h"

namespace lathe::wasm {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::string hex(uint64_t value, size_t least_digits) {
  std::string text;
  for (; value != 0 || text.size() < least_digits; value >>= 4) {
    text.insert(text.begin(), kHexDigits[value & 15]);
  }
  return text;
}

std::string float_text(uint64_t bits, int mantissa_bits, int exponent_bits) {
  const uint64_t mantissa = bits & ((uint64_t{1} << mantissa_bits) - 1);
  const int exponent_mask = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & exponent_mask;
  const bool negative = (bits >> (mantissa_bits + exponent_bits) & 1) != 0;
  std::string text = negative ? "-" : "";
  if (exponent == exponent_mask) {
    if (mantissa == 0) return text + "inf";
    const bool canonical = mantissa == uint64_t{1} << (mantissa_bits - 1);
    return text + (canonical ? "nan" : "nan:0x" + hex(mantissa, 1));
  }
  if (exponent == 0 && mantissa == 0) return text + "0x0p+0";
  text += exponent == 0 ? "0x0" : "0x1";
  const int digits = (mantissa_bits + 3) / 4;
  std::string fraction = hex(mantissa << (digits * 4 - mantissa_bits), static_cast<size_t>(digits));
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  if (!fraction.empty()) append(text, '.', fraction);
  const int power = (exponent == 0 ? 1 : exponent) - exponent_mask / 2;
  append(text, 'p', power < 0 ? "" : "+", power);
  return text;
}

bool is_identifier_character(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-./:<=>?@\\^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kMarks.find(c) != std::string_view::npos;
}

void append_memory_argument(std::string& out, const Instruction& instruction,
                            const OpcodeInfo& row) {
  if (instruction.index != 0) append(out, ' ', instruction.index);
  if (instruction.value != 0) append(out, " offset=", instruction.value);
  if (instruction.align != row.natural_align()) {
    append(out, " align=", uint64_t{1} << (instruction.align & 63));
  }
}

void append_block_type(std::string& out, int64_t type, const std::vector<FuncType>& types) {
  if (type == kEmptyBlock) return;
  if (type < 0) {
    out += signature_text({}, single_type(static_cast<ValType>(type & 0x7f)));
    return;
  }
  append(out, " (type ", type, ')');
  if (static_cast<uint64_t>(type) >= types.size()) return;
  const FuncType& signature = types[type];
  out += signature_text(signature.params, signature.results);
}

void append_vector(std::string& out, Immediate kind, const V128& bytes) {
  if (kind == Immediate::Shuffle) {
    for (uint8_t lane : bytes) append(out, ' ', lane);
    return;
  }
  out += " i32x4";
  for (size_t lane = 0; lane < 4; ++lane) {
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; ++i) bits |= static_cast<uint32_t>(bytes[lane * 4 + i]) << (8 * i);
    append(out, " 0x", hex(bits, 8));
  }
}

void append_pair(std::string& out, uint32_t first, uint32_t second) {
  append(out, ' ', first, ' ', second);
}

void append_labels(std::string& out, const Instruction& instruction, const Code& code) {
  for (uint32_t i = 0; i <= instruction.second; ++i) {
    append(out, ' ', code.labels[instruction.index + i]);
  }
}

void append_types(std::string& out, const Instruction& instruction, const Code& code) {
  out += " (result";
  for (uint32_t i = 0; i < instruction.second; ++i) {
    append(out, ' ', name(code.types[instruction.index + i]));
  }
  out += ')';
}

void append_call_indirect(std::string& out, const Instruction& instruction) {
  if (instruction.second != 0) append(out, ' ', instruction.second);
  append(out, " (type ", instruction.index, ')');
}

}  // namespace

std::string index_text(const std::map<uint32_t, std::string>& identifiers, uint32_t index) {
  const auto found = identifiers.find(index);
  return found == identifiers.end() ? concat(index) : found->second;
}

std::map<uint32_t, std::string> make_identifiers(const std::map<uint32_t, std::string>& names) {
  std::map<uint32_t, std::string> identifiers;
  std::set<std::string> used;
  for (const auto& [index, name] : names) {
    if (name.empty()) continue;
    std::string text = "$" + name;
    for (char& c : text) {
      if (!is_identifier_character(c)) c = '_';
    }
    while (!used.insert(text).second) append(text, '.', index);
    identifiers[index] = text;
  }
  return identifiers;
}

std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (char c : bytes) {
    const auto code = static_cast<uint8_t>(c);
    if (code < 0x20 || code >= 0x7f || c == '"' || c == '\\') {
      append(text, '\\', kHexDigits[code >> 4], kHexDigits[code & 15]);
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string f32_text(uint32_t bits) { return float_text(bits, 23, 8); }
std::string f64_text(uint64_t bits) { return float_text(bits, 52, 11); }

std::string signature_text(std::span<const ValType> params, std::span<const ValType> results) {
  std::string text;
  const auto append_list = [&](const char* word, std::span<const ValType> types) {
    if (types.empty()) return;
    append(text, " (", word);
    for (ValType type : types) append(text, ' ', name(type));
    text += ')';
  };
  append_list("param", params);
  append_list("result", results);
  return text;
}

void append_instruction_text(std::string& out, const Instruction& instruction, const Code& code,
                             const std::vector<FuncType>& types, const Identifiers& identifiers) {
  const OpcodeInfo& row = info(instruction.op);
  out += row.text();
  switch (row.immediate) {
    case Immediate::None:
    case Immediate::Zero:
      break;
    case Immediate::Block:
      append_block_type(out, static_cast<int64_t>(instruction.value), types);
      break;
    case Immediate::LabelTable:
      append_labels(out, instruction, code);
      break;
    case Immediate::Function:
      append(out, ' ', index_text(identifiers.functions, instruction.index));
      break;
    case Immediate::TypeTable:
      append_call_indirect(out, instruction);
      break;
    case Immediate::SelectTypes:
      append_types(out, instruction, code);
      break;
    case Immediate::Local:
      append(out, ' ', index_text(identifiers.locals, instruction.index));
      break;
    case Immediate::Global:
      append(out, ' ', index_text(identifiers.globals, instruction.index));
      break;
    case Immediate::Label:
    case Immediate::Table:
    case Immediate::Element:
    case Immediate::Data:
      append(out, ' ', instruction.index);
      break;
    case Immediate::Memory:
      if (instruction.index != 0) append(out, ' ', instruction.index);
      break;
    case Immediate::TableTable:
      append_pair(out, instruction.index, instruction.second);
      break;
    case Immediate::ElementTable:
      append_pair(out, instruction.second, instruction.index);
      break;
    case Immediate::MemoryMemory:
      if ((instruction.index | instruction.second) != 0) {
        append_pair(out, instruction.index, instruction.second);
      }
      break;
    case Immediate::DataMemory:
      if (instruction.second != 0) append(out, ' ', instruction.second);
      append(out, ' ', instruction.index);
      break;
    case Immediate::MemArg:
      append_memory_argument(out, instruction, row);
      break;
    case Immediate::MemArgLane:
      append_memory_argument(out, instruction, row);
      append(out, ' ', instruction.lane);
      break;
    case Immediate::Lane:
      append(out, ' ', instruction.lane);
      break;
    case Immediate::I32:
    case Immediate::I64:
      append(out, ' ', static_cast<int64_t>(instruction.value));
      break;
    case Immediate::F32:
      append(out, ' ', f32_text(static_cast<uint32_t>(instruction.value)));
      break;
    case Immediate::F64:
      append(out, ' ', f64_text(instruction.value));
      break;
    case Immediate::V128:
    case Immediate::Shuffle:
      append_vector(out, row.immediate, code.vectors[instruction.index]);
      break;
    case Immediate::RefType:
      out += static_cast<ValType>(instruction.index) == ValType::funcref ? " func" : " extern";
      break;
  }
}

std::string print(const Instruction& instruction, const Code& code) {
  std::string text;
  append_instruction_text(text, instruction, code, {}, {});
  return text;
}

}  // namespace lathe::wasm
