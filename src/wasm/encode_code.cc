// One case for each kind of immediate.
#include "lathe/wasm/encode_code.h"

namespace lathe::wasm {
namespace {

constexpr uint32_t kHasMemoryIndex = 0x40;

void append_opcode(Bytes& out, Opcode op) {
  const auto code = static_cast<uint32_t>(op);
  if (code >> kPrefixShift == 0) {
    out.push_back(static_cast<uint8_t>(code));
    return;
  }
  out.push_back(static_cast<uint8_t>(code >> kPrefixShift));
  append_uleb128(out, code & ((1u << kPrefixShift) - 1));
}

void append_memory_argument(Bytes& out, const Instruction& instruction) {
  append_uleb128(out, instruction.align | (instruction.index != 0 ? kHasMemoryIndex : 0));
  if (instruction.index != 0) append_uleb128(out, instruction.index);
  append_uleb128(out, instruction.value);
}

void append_immediate(Bytes& out, Immediate kind, const Instruction& instruction,
                      const Code& code) {
  switch (kind) {
    case Immediate::None:
      break;
    case Immediate::Block:
    case Immediate::I32:
    case Immediate::I64:
      append_sleb128(out, static_cast<int64_t>(instruction.value));
      break;
    case Immediate::Label:
    case Immediate::Function:
    case Immediate::Local:
    case Immediate::Global:
    case Immediate::Table:
    case Immediate::Element:
    case Immediate::Data:
    case Immediate::Memory:
      append_uleb128(out, instruction.index);
      break;
    case Immediate::TypeTable:
    case Immediate::TableTable:
    case Immediate::ElementTable:
    case Immediate::MemoryMemory:
    case Immediate::DataMemory:
      append_uleb128(out, instruction.index);
      append_uleb128(out, instruction.second);
      break;
    case Immediate::LabelTable:
      append_uleb128(out, instruction.second);
      for (uint32_t i = 0; i <= instruction.second; ++i) {
        append_uleb128(out, code.labels[instruction.index + i]);
      }
      break;
    case Immediate::SelectTypes:
      append_uleb128(out, instruction.second);
      for (uint32_t i = 0; i < instruction.second; ++i) {
        out.push_back(static_cast<uint8_t>(code.types[instruction.index + i]));
      }
      break;
    case Immediate::MemArg:
      append_memory_argument(out, instruction);
      break;
    case Immediate::MemArgLane:
      append_memory_argument(out, instruction);
      out.push_back(instruction.lane);
      break;
    case Immediate::Lane:
      out.push_back(instruction.lane);
      break;
    case Immediate::F32:
      append_fixed(out, instruction.value, 4);
      break;
    case Immediate::F64:
      append_fixed(out, instruction.value, 8);
      break;
    case Immediate::V128:
    case Immediate::Shuffle:
      append_bytes(out, code.vectors[instruction.index]);
      break;
    case Immediate::RefType:
      out.push_back(static_cast<uint8_t>(instruction.index));
      break;
    case Immediate::Zero:
      out.push_back(0);
      break;
  }
}

}  // namespace

void append_instruction(Bytes& out, const Instruction& instruction, const Code& code) {
  append_opcode(out, instruction.op);
  append_immediate(out, info(instruction.op).immediate, instruction, code);
}

void append_code(Bytes& out, const Code& code) {
  for (const Instruction& instruction : code.instructions) {
    append_instruction(out, instruction, code);
  }
}

}  // namespace lathe::wasm
