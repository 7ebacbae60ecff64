// Operands and results of an instruction: from its row of the table, or from its immediate.
#include <array>

#include "lathe/base/text.h"
#include "lathe/wasm/function_checker.h"

namespace lathe::wasm {
namespace {

Status in_range(const char* what, uint32_t index, size_t count) {
  if (index >= count) return fail(concat("unknown ", what, ' ', index));
  return {};
}

ValType type_of_letter(char letter, ValType address) {
  switch (letter) {
    case 'i':
      return ValType::i32;
    case 'l':
      return ValType::i64;
    case 'f':
      return ValType::f32;
    case 'd':
      return ValType::f64;
    case 'v':
      return ValType::v128;
    default:
      return address;
  }
}

struct SmallTypes {
  std::array<ValType, 4> types;
  size_t size = 0;
  SmallTypes(std::string_view letters, ValType address) {
    for (char letter : letters) types[size++] = type_of_letter(letter, address);
  }
  std::span<const ValType> span() const { return std::span(types).first(size); }
};

// The length of a copy between two address types is of the smaller one (core specification 3.4.12).
ValType smaller(ValType a, ValType b) {
  return a == ValType::i64 && b == ValType::i64 ? ValType::i64 : ValType::i32;
}

}  // namespace

Status FunctionChecker::check_memory_access(const OpcodeInfo& row,
                                            const Instruction& instruction) const {
  LATHE_TRY(in_range("memory", instruction.index, spaces_.memories.size()));
  const uint32_t natural = row.natural_align();
  if (instruction.align > natural) {
    return fail(concat(row.text(), ": alignment must not be larger than natural"));
  }
  if (row.feature == Feature::threads && instruction.align != natural) {
    return fail(concat(row.text(), ": alignment must be natural"));
  }
  const bool is64 = spaces_.memories[instruction.index].is64;
  if (!is64 && instruction.value > UINT32_MAX) {
    return fail(concat(row.text(), ": offset out of range for a 32-bit memory"));
  }
  return {};
}

Status FunctionChecker::check_immediate(const OpcodeInfo& row,
                                        const Instruction& instruction) const {
  switch (row.immediate) {
    case Immediate::Function:
      return in_range("function", instruction.index, spaces_.function_types.size());
    case Immediate::TypeTable:
      LATHE_TRY(in_range("type", instruction.index, module_.types.size()));
      return in_range("table", instruction.second, spaces_.tables.size());
    case Immediate::SelectTypes:
      if (instruction.second != 1) return fail("select expects exactly one type");
      return {};
    case Immediate::Global:
      return in_range("global", instruction.index, spaces_.globals.size());
    case Immediate::Table:
      return in_range("table", instruction.index, spaces_.tables.size());
    case Immediate::TableTable:
      LATHE_TRY(in_range("table", instruction.index, spaces_.tables.size()));
      return in_range("table", instruction.second, spaces_.tables.size());
    case Immediate::ElementTable:
      LATHE_TRY(in_range("element segment", instruction.index, module_.elements.size()));
      return in_range("table", instruction.second, spaces_.tables.size());
    case Immediate::Element:
      return in_range("element segment", instruction.index, module_.elements.size());
    case Immediate::Data:
      return in_range("data segment", instruction.index, module_.data.size());
    case Immediate::Memory:
      return in_range("memory", instruction.index, spaces_.memories.size());
    case Immediate::MemoryMemory:
      LATHE_TRY(in_range("memory", instruction.index, spaces_.memories.size()));
      return in_range("memory", instruction.second, spaces_.memories.size());
    case Immediate::DataMemory:
      LATHE_TRY(in_range("data segment", instruction.index, module_.data.size()));
      return in_range("memory", instruction.second, spaces_.memories.size());
    case Immediate::MemArg:
      return check_memory_access(row, instruction);
    case Immediate::MemArgLane:
      LATHE_TRY(check_memory_access(row, instruction));
      return in_range("lane", instruction.lane, row.lane_count());
    case Immediate::Lane:
      return in_range("lane", instruction.lane, row.lane_count());
    case Immediate::Shuffle:
      for (uint8_t lane : function_.code.vectors[instruction.index]) {
        LATHE_TRY(in_range("lane", lane, 32));
      }
      return {};
    case Immediate::None:
    case Immediate::Block:
    case Immediate::Label:
    case Immediate::LabelTable:
    case Immediate::Local:
    case Immediate::I32:
    case Immediate::I64:
    case Immediate::F32:
    case Immediate::F64:
    case Immediate::V128:
    case Immediate::RefType:
    case Immediate::Zero:
      return {};
  }
  return {};
}

Result<ValType> FunctionChecker::address_type(const OpcodeInfo& row,
                                              const Instruction& instruction) const {
  const bool is_second = row.immediate == Immediate::DataMemory;
  const uint32_t memory = is_second ? instruction.second : instruction.index;
  LATHE_TRY(in_range("memory", memory, spaces_.memories.size()));
  return spaces_.memories[memory].address_type();
}

Status FunctionChecker::check_simple(const OpcodeInfo& row, const Instruction& instruction) {
  ValType address = ValType::i32;
  if (row.operands().contains('p') || row.results().contains('p')) {
    LATHE_ASSIGN_OR_RETURN(address, address_type(row, instruction));
  }
  return apply(instruction.op, SmallTypes(row.operands(), address).span(),
               SmallTypes(row.results(), address).span());
}

Status FunctionChecker::check_special(const OpcodeInfo& row, const Instruction& instruction) {
  switch (row.immediate) {
    case Immediate::Block:
      return begin_block(instruction);
    case Immediate::Label:
      return branch(instruction);
    case Immediate::LabelTable:
      return branch_table(instruction);
    case Immediate::Function:
      return check_function(instruction);
    case Immediate::TypeTable:
      return call(instruction, instruction.op == Opcode::return_call_indirect);
    case Immediate::SelectTypes: {
      const ValType type = function_.code.types[instruction.index];
      return apply(instruction.op, std::array{type, type, ValType::i32}, std::array{type});
    }
    case Immediate::Local:
      return check_local(instruction);
    case Immediate::Global:
      return check_global(instruction);
    case Immediate::Table:
      return check_table(instruction);
    case Immediate::TableTable:
    case Immediate::ElementTable:
    case Immediate::MemoryMemory:
      return check_copy(instruction);
    case Immediate::RefType:
      return apply(instruction.op, {}, std::array{static_cast<ValType>(instruction.index)});
    case Immediate::None:
    case Immediate::Element:
    case Immediate::Data:
    case Immediate::Memory:
    case Immediate::DataMemory:
    case Immediate::MemArg:
    case Immediate::MemArgLane:
    case Immediate::Lane:
    case Immediate::I32:
    case Immediate::I64:
    case Immediate::F32:
    case Immediate::F64:
    case Immediate::V128:
    case Immediate::Shuffle:
    case Immediate::Zero:
      return check_plain(instruction);
  }
  return {};
}

Status FunctionChecker::check_function(const Instruction& instruction) {
  if (instruction.op == Opcode::ref_func) {
    return apply(instruction.op, {}, single_type(ValType::funcref));
  }
  return call(instruction, instruction.op == Opcode::return_call);
}

Result<ValType> FunctionChecker::local_type(uint32_t index) const {
  const std::vector<ValType>& params = module_.types[function_.type].params;
  if (index < params.size()) return params[index];
  size_t end = params.size();
  for (const LocalRun& run : function_.locals) {
    end += run.count;
    if (index < end) return run.type;
  }
  return fail(concat("unknown local ", index));
}

Status FunctionChecker::check_local(const Instruction& instruction) {
  LATHE_ASSIGN_OR_RETURN(const ValType type, local_type(instruction.index));
  const std::array types = {type};
  if (instruction.op == Opcode::local_get) return apply(instruction.op, {}, types);
  if (instruction.op == Opcode::local_set) return apply(instruction.op, types, {});
  return apply(instruction.op, types, types);
}

Status FunctionChecker::check_global(const Instruction& instruction) {
  const GlobalType& global = spaces_.globals[instruction.index];
  if (instruction.op == Opcode::global_get) {
    return apply(instruction.op, {}, std::array{global.type});
  }
  if (!global.is_mutable) return fail(concat("global ", instruction.index, " is immutable"));
  return apply(instruction.op, std::array{global.type}, {});
}

Status FunctionChecker::check_table(const Instruction& instruction) {
  const TableType& table = spaces_.tables[instruction.index];
  const ValType address = table.limits.address_type();
  const std::array addresses = {address};
  const std::array elements = {table.element};
  const Opcode op = instruction.op;
  if (op == Opcode::table_get) return apply(op, addresses, elements);
  if (op == Opcode::table_set) return apply(op, std::array{address, table.element}, {});
  if (op == Opcode::table_grow) return apply(op, std::array{table.element, address}, addresses);
  if (op == Opcode::table_size) return apply(op, {}, addresses);
  return apply(op, std::array{address, table.element, address}, {});
}

Status FunctionChecker::check_copy(const Instruction& instruction) {
  if (instruction.op == Opcode::memory_copy) {
    const ValType to = spaces_.memories[instruction.index].address_type();
    const ValType from = spaces_.memories[instruction.second].address_type();
    return apply(instruction.op, std::array{to, from, smaller(to, from)}, {});
  }
  const bool is_init = instruction.op == Opcode::table_init;
  const TableType& to = spaces_.tables[is_init ? instruction.second : instruction.index];
  const ValType source = is_init ? module_.elements[instruction.index].type
                                 : spaces_.tables[instruction.second].element;
  if (source != to.element) {
    return fail(concat(info(instruction.op).text(), " of ", name(source), " into a table of ",
                       name(to.element)));
  }
  const ValType address = to.limits.address_type();
  if (is_init) return apply(instruction.op, std::array{address, ValType::i32, ValType::i32}, {});
  const ValType from = spaces_.tables[instruction.second].limits.address_type();
  return apply(instruction.op, std::array{address, from, smaller(address, from)}, {});
}

}  // namespace lathe::wasm
