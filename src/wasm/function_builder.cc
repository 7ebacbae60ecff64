// Instructions are stored as appended and validated as far as the functions they call are declared.
#include <bit>

#include "lathe/base/text.h"
#include "lathe/wasm/assembler.h"
#include "lathe/wasm/validate.h"

namespace lathe::wasm {

FunctionBuilder::FunctionBuilder(const Module& module, const IndexSpaces& spaces, std::string name,
                                 uint32_t index, uint32_t type)
    : spaces_(spaces),
      name_(std::move(name)),
      index_(index),
      local_count_(static_cast<uint32_t>(module.types[type].params.size())),
      checker_(module, spaces, function_, type) {
  function_.type = type;
}

uint32_t FunctionBuilder::add_local(ValType type) {
  std::vector<LocalRun>& runs = function_.locals;
  if (runs.empty() || runs.back().type != type) runs.push_back({0, type});
  ++runs.back().count;
  return local_count_++;
}

void FunctionBuilder::record_error(std::string message) {
  if (error_) return;
  error_ = Error{concat(message, " (instruction ", checked_, " of \"", name_, "\")")};
}

bool FunctionBuilder::accepts(Opcode op, std::initializer_list<Immediate> allowed,
                              const char* immediate_name) {
  if constexpr (!kBuildersCheck) return true;
  const OpcodeInfo* row = find_opcode(static_cast<uint32_t>(op));
  if (row == nullptr) {
    record_error(concat("there is no opcode ", static_cast<uint32_t>(op)));
    return false;
  }
  for (Immediate immediate : allowed) {
    if (row->immediate == immediate) return true;
  }
  record_error(concat(row->text(), " does not accept ", immediate_name));
  return false;
}

void FunctionBuilder::check_pending() {
  if constexpr (!kBuildersCheck) return;
  const std::vector<Instruction>& appended = function_.code.instructions;
  while (!error_ && checked_ < appended.size()) {
    const Instruction& next = appended[checked_];
    const bool is_later = info(next.op).immediate == Immediate::Function &&
                          next.index >= spaces_.function_types.size();
    if (is_later) return;
    if (Status status = checker_.check(next); !status) {
      record_error(status.error().message);
      return;
    }
    ++checked_;
  }
}

FunctionBuilder& FunctionBuilder::emit(const Instruction& instruction) {
  function_.code.instructions.push_back(instruction);
  check_pending();
  return *this;
}

FunctionBuilder& FunctionBuilder::op(Opcode op) {
  if (!accepts(op, {Immediate::None, Immediate::Zero}, "no immediate")) return *this;
  return emit({.op = op});
}

FunctionBuilder& FunctionBuilder::op_index(Opcode op, uint32_t index, uint32_t second) {
  if (!accepts(op,
               {Immediate::Label, Immediate::Function, Immediate::TypeTable, Immediate::Local,
                Immediate::Global, Immediate::Table, Immediate::TableTable, Immediate::ElementTable,
                Immediate::Element, Immediate::Data, Immediate::Memory, Immediate::MemoryMemory,
                Immediate::DataMemory},
               "an index"))
    return *this;
  return emit({.op = op, .index = index, .second = second});
}

FunctionBuilder& FunctionBuilder::op_memory(Opcode op, MemArg memory) {
  if (!accepts(op, {Immediate::MemArg}, "a memory argument")) return *this;
  return emit_memory(op, memory, 0);
}

FunctionBuilder& FunctionBuilder::op_memory_lane(Opcode op, MemArg memory, uint8_t lane) {
  if (!accepts(op, {Immediate::MemArgLane}, "a memory argument and a lane")) return *this;
  return emit_memory(op, memory, lane);
}

FunctionBuilder& FunctionBuilder::emit_memory(Opcode op, MemArg memory, uint8_t lane) {
  const uint32_t align = memory.align == 0 ? info(op).width : memory.align;
  if (kBuildersCheck && !std::has_single_bit(align)) {
    record_error(concat(info(op).text(), ": alignment ", align, " is not a power of two"));
    return *this;
  }
  return emit({.op = op,
               .align = static_cast<uint8_t>(std::countr_zero(align)),
               .lane = lane,
               .index = memory.memory,
               .value = memory.offset});
}

FunctionBuilder& FunctionBuilder::op_lane(Opcode op, uint8_t lane) {
  if (!accepts(op, {Immediate::Lane}, "a lane")) return *this;
  return emit({.op = op, .lane = lane});
}

FunctionBuilder& FunctionBuilder::i32_const(int32_t value) {
  const auto wide = static_cast<uint64_t>(static_cast<int64_t>(value));
  return emit({.op = Opcode::i32_const, .value = wide});
}

FunctionBuilder& FunctionBuilder::i64_const(int64_t value) {
  return emit({.op = Opcode::i64_const, .value = static_cast<uint64_t>(value)});
}

FunctionBuilder& FunctionBuilder::f32_const(float value) {
  return emit({.op = Opcode::f32_const, .value = std::bit_cast<uint32_t>(value)});
}

FunctionBuilder& FunctionBuilder::f64_const(double value) {
  return emit({.op = Opcode::f64_const, .value = std::bit_cast<uint64_t>(value)});
}

FunctionBuilder& FunctionBuilder::emit_vector(Opcode op, const V128& bytes) {
  std::vector<V128>& vectors = function_.code.vectors;
  vectors.push_back(bytes);
  return emit({.op = op, .index = static_cast<uint32_t>(vectors.size() - 1)});
}

FunctionBuilder& FunctionBuilder::v128_const(const V128& bytes) {
  return emit_vector(Opcode::v128_const, bytes);
}

FunctionBuilder& FunctionBuilder::shuffle(const V128& lanes) {
  return emit_vector(Opcode::i8x16_shuffle, lanes);
}

FunctionBuilder& FunctionBuilder::emit_block(Opcode op, BlockType type) {
  return emit({.op = op, .value = static_cast<uint64_t>(type.code)});
}

FunctionBuilder& FunctionBuilder::block(BlockType type) { return emit_block(Opcode::block, type); }
FunctionBuilder& FunctionBuilder::loop(BlockType type) { return emit_block(Opcode::loop, type); }
FunctionBuilder& FunctionBuilder::if_(BlockType type) { return emit_block(Opcode::if_, type); }

FunctionBuilder& FunctionBuilder::br_table(std::span<const uint32_t> depths, uint32_t otherwise) {
  std::vector<uint32_t>& labels = function_.code.labels;
  const auto first = static_cast<uint32_t>(labels.size());
  labels.insert(labels.end(), depths.begin(), depths.end());
  labels.push_back(otherwise);
  return emit(
      {.op = Opcode::br_table, .index = first, .second = static_cast<uint32_t>(depths.size())});
}

FunctionBuilder& FunctionBuilder::select_of(ValType type) {
  function_.code.types.push_back(type);
  const auto index = static_cast<uint32_t>(function_.code.types.size() - 1);
  return emit({.op = Opcode::select_t, .index = index, .second = 1});
}

FunctionBuilder& FunctionBuilder::ref_null(ValType type) {
  if (!is_reference(type)) {
    record_error(concat("ref.null expects a reference type, not ", wasm::name(type)));
    return *this;
  }
  return emit({.op = Opcode::ref_null, .index = static_cast<uint32_t>(type)});
}

Status FunctionBuilder::finish() {
  end();
  if constexpr (kBuildersCheck) {
    if (!error_ && checked_ < function_.code.instructions.size()) {
      record_error(concat("unknown function ", function_.code.instructions[checked_].index));
    }
    if (!error_ && !checker_.done()) record_error("the body ends inside a block");
  }
  if (error_) return std::unexpected(*error_);
  return {};
}

}  // namespace lathe::wasm
