// The instructions of WebAssembly as an enumeration and a table of facts, both expanded from
// opcodes.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lathe/wasm/types.h"

namespace lathe::wasm {

// One-byte opcodes have their byte; prefixed ones have prefix byte and three digits: 0xfd105.
enum class Opcode : uint32_t {
#define LATHE_WASM_OP(group_, name_, text_, code_, ...) group_##_##name_ = code_,
#define LATHE_WASM_OP_BARE(name_, text_, code_, ...) name_ = code_,
#include "lathe/wasm/opcodes.def"
};

// What follows an opcode in the binary format, and where Instruction stores it.
enum class Immediate : uint8_t {
  None,
  Block,         // value: kEmptyBlock, negative code of one value type, or type index
  Label,         // index
  LabelTable,    // labels[index … index + second], the last one is the default
  Function,      // index
  TypeTable,     // index: type, second: table
  SelectTypes,   // types[index … index + second)
  Local,         // index
  Global,        // index
  Table,         // index
  TableTable,    // index: destination, second: source
  ElementTable,  // index: element segment, second: table
  Element,       // index
  Data,          // index
  Memory,        // index
  MemoryMemory,  // index: destination, second: source
  DataMemory,    // index: data segment, second: memory
  MemArg,        // index: memory, align: log2, value: offset
  MemArgLane,    // as MemArg, and lane
  Lane,          // lane
  I32,           // value: sign-extended
  I64,           // value
  F32,           // value: bits
  F64,           // value: bits
  V128,          // vectors[index]
  Shuffle,       // vectors[index]
  RefType,       // index: code of the reference type
  Zero,          // a zero byte
};

struct OpcodeInfo {
  Opcode op;
  Immediate immediate;
  bool is_special = false;  // the signature depends on the immediate or the stack
  uint8_t width = 0;        // bytes accessed, or number of lanes; 0 for others
  Feature feature;

  // In a separate table, so that programs that never print names are linked without it.
  std::string_view text() const;
  std::string_view operands() const;  // one letter each: i l f d v p, see opcodes.def
  std::string_view results() const;
  uint32_t lane_count() const { return immediate == Immediate::MemArgLane ? 16u / width : width; }
  uint32_t natural_align() const;  // log2 of width
};

// Every row, by ascending code.
std::span<const OpcodeInfo> all_opcodes();
// nullptr if there is no such instruction.
const OpcodeInfo* find_opcode(uint32_t code);
const OpcodeInfo& info(Opcode op);

inline constexpr uint32_t kPrefixShift = 12;

}  // namespace lathe::wasm
