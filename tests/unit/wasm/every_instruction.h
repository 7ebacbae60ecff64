// A small valid module for each row of the opcode table, so that one loop tests every instruction.
#pragma once

#include "lathe/wasm/module.h"

namespace lathe::wasm {

// An instruction with immediates that are valid in the module of module_of().
inline Instruction sample_of(const OpcodeInfo& row, Code& code) {
  Instruction instruction = {.op = row.op};
  switch (row.immediate) {
    case Immediate::Block:
      instruction.value = static_cast<uint64_t>(kEmptyBlock);
      break;
    case Immediate::LabelTable:
      code.labels = {0, 0, 0};
      instruction.second = 2;
      break;
    case Immediate::SelectTypes:
      code.types = {ValType::externref};
      instruction.second = 1;
      break;
    case Immediate::MemArg:
    case Immediate::MemArgLane:
      instruction.align = static_cast<uint8_t>(row.natural_align());
      instruction.value = 1000;
      instruction.lane = static_cast<uint8_t>(row.width == 0 ? 0 : row.lane_count() - 1) % 16;
      if (row.immediate == Immediate::MemArg) instruction.lane = 0;
      break;
    case Immediate::Lane:
      instruction.lane = static_cast<uint8_t>(row.lane_count() - 1);
      break;
    case Immediate::I32:
      instruction.value = static_cast<uint64_t>(int64_t{-123456});
      break;
    case Immediate::I64:
      instruction.value = uint64_t{1} << 63;
      break;
    case Immediate::F32:
      instruction.value = 0x7fa00000;
      break;
    case Immediate::F64:
      instruction.value = 0xbff8000000000000;
      break;
    case Immediate::V128:
    case Immediate::Shuffle:
      code.vectors = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 31}};
      break;
    case Immediate::RefType:
      instruction.index = static_cast<uint32_t>(ValType::externref);
      break;
    default:
      break;
  }
  return instruction;
}

inline Instruction push_of(char letter) {
  switch (letter) {
    case 'l':
      return {.op = Opcode::i64_const};
    case 'f':
      return {.op = Opcode::f32_const};
    case 'd':
      return {.op = Opcode::f64_const};
    default:
      return {.op = Opcode::i32_const};
  }
}

// The instruction with the instructions that must precede and follow it. Special ones get their
// operands from unreachable code.
inline Code code_around(const OpcodeInfo& row) {
  Code code;
  const Instruction sample = sample_of(row, code);
  std::vector<Instruction>& list = code.instructions;
  if (row.is_special) list.push_back({.op = Opcode::unreachable});
  for (char letter : row.operands()) {
    if (letter == 'v') {
      list.push_back({.op = Opcode::i32_const});
      list.push_back({.op = Opcode::i8x16_splat});
    } else {
      list.push_back(push_of(letter));
    }
  }
  const bool opens = row.immediate == Immediate::Block || row.op == Opcode::else_;
  if (row.op == Opcode::else_) {
    list.push_back({.op = Opcode::if_, .value = static_cast<uint64_t>(kEmptyBlock)});
  }
  if (row.op != Opcode::end) list.push_back(sample);
  // WABT drops an empty else.
  if (opens) list.push_back({.op = Opcode::nop});
  if (opens) list.push_back({.op = Opcode::end});
  list.push_back({.op = Opcode::unreachable});
  list.push_back({.op = Opcode::end});
  return code;
}

// Types, memory, tables, segments and a global for the sample to name; its function is function 0.
inline Module module_of(const OpcodeInfo& row) {
  Module module;
  module.types = {{}};
  module.memories = {{.min = 1, .max = 2, .shared = true}};
  module.tables = {{ValType::funcref, {.min = 1}}};
  module.globals = {{{ValType::i32, true}, constant_code(Opcode::i32_const, 7)}};
  Element element;
  element.mode = SegmentMode::passive;
  element.functions = {0};
  module.elements = {element};
  Data data;
  data.mode = SegmentMode::passive;
  data.bytes = std::vector{std::byte{1}, std::byte{2}, std::byte{3}};
  module.data = {data};
  module.has_data_count = true;
  module.functions = {{0, {{1, ValType::i32}}, code_around(row)}};
  return module;
}

}  // namespace lathe::wasm
