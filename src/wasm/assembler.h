// Writes modules by hand or from a code generator. Every instruction is validated when it is
// appended; the first error is stored and returned by ModuleBuilder::finish, so no call in between
// needs a check.
#pragma once

#include <list>

#include "lathe/base/result.h"
#include "lathe/wasm/function_checker.h"
#include "lathe/wasm/handles.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

struct MemArg {
  uint64_t offset = 0;
  uint32_t align = 0;  // in bytes, as in the text format; 0 means the natural alignment
  uint32_t memory = 0;
};

// The parameters and results of a block: none, one result, or a type made by
// ModuleBuilder::add_type.
struct BlockType {
  int64_t code = kEmptyBlock;
  BlockType() = default;
  BlockType(ValType result) : code(block_type_of(result)) {}
  static BlockType of_type(uint32_t type_index) {
    BlockType type;
    type.code = type_index;
    return type;
  }
};

class FunctionBuilder {
 public:
  FunctionBuilder(const Module& module, const IndexSpaces& spaces, std::string name, uint32_t index,
                  uint32_t type);
  FunctionBuilder(const FunctionBuilder&) = delete;
  FunctionBuilder& operator=(const FunctionBuilder&) = delete;

  uint32_t index() const { return index_; }
  const std::string& name() const { return name_; }
  // Parameters are locals 0 … n - 1.
  uint32_t add_local(ValType type);
  size_t instruction_count() const { return function_.code.instructions.size(); }

  // The form for code generators: the opcode is a value. A wrong immediate is an error of finish().
  FunctionBuilder& op(Opcode op);
  FunctionBuilder& op_index(Opcode op, uint32_t index, uint32_t second = 0);
  FunctionBuilder& op_memory(Opcode op, MemArg memory);
  FunctionBuilder& op_memory_lane(Opcode op, MemArg memory, uint8_t lane);
  FunctionBuilder& op_lane(Opcode op, uint8_t lane);
  FunctionBuilder& i32_const(int32_t value);
  FunctionBuilder& i64_const(int64_t value);
  FunctionBuilder& f32_const(float value);
  FunctionBuilder& f64_const(double value);
  FunctionBuilder& v128_const(const V128& bytes);
  FunctionBuilder& shuffle(const V128& lanes);
  FunctionBuilder& block(BlockType type = {});
  FunctionBuilder& loop(BlockType type = {});
  FunctionBuilder& if_(BlockType type = {});
  FunctionBuilder& else_() { return op(Opcode::else_); }
  FunctionBuilder& end() { return op(Opcode::end); }
  FunctionBuilder& br(uint32_t depth) { return op_index(Opcode::br, depth); }
  FunctionBuilder& br_if(uint32_t depth) { return op_index(Opcode::br_if, depth); }
  FunctionBuilder& br_table(std::span<const uint32_t> depths, uint32_t otherwise);
  FunctionBuilder& call(uint32_t function) { return op_index(Opcode::call, function); }
  FunctionBuilder& select_of(ValType type);
  FunctionBuilder& ref_null(ValType type);

  // Convenience overloads: the type of the handle selects the immediate.
  template <Immediate kImmediate>
  requires(kImmediate == Immediate::None || kImmediate == Immediate::Zero) FunctionBuilder&
  operator()(Handle<kImmediate> handle) {
    return op(handle.op);
  }
  template <Immediate kImmediate>
  requires(kImmediate == Immediate::Label || kImmediate == Immediate::Function ||
           kImmediate == Immediate::Local || kImmediate == Immediate::Global ||
           kImmediate == Immediate::Element || kImmediate == Immediate::Data) FunctionBuilder&
  operator()(Handle<kImmediate> handle, uint32_t index) {
    return op_index(handle.op, index);
  }
  template <Immediate kImmediate>
  requires(kImmediate == Immediate::Memory || kImmediate == Immediate::Table) FunctionBuilder&
  operator()(Handle<kImmediate> handle, uint32_t index = 0) {
    return op_index(handle.op, index);
  }
  template <Immediate kImmediate>
  requires(kImmediate == Immediate::TypeTable || kImmediate == Immediate::ElementTable ||
           kImmediate == Immediate::DataMemory) FunctionBuilder&
  operator()(Handle<kImmediate> handle, uint32_t index, uint32_t second = 0) {
    return op_index(handle.op, index, second);
  }
  template <Immediate kImmediate>
  requires(kImmediate == Immediate::MemoryMemory ||
           kImmediate == Immediate::TableTable) FunctionBuilder&
  operator()(Handle<kImmediate> handle, uint32_t to = 0, uint32_t from = 0) {
    return op_index(handle.op, to, from);
  }
  FunctionBuilder& operator()(Handle<Immediate::Block> handle, BlockType type = {}) {
    return emit_block(handle.op, type);
  }
  FunctionBuilder& operator()(Handle<Immediate::LabelTable>, std::span<const uint32_t> depths,
                              uint32_t otherwise) {
    return br_table(depths, otherwise);
  }
  FunctionBuilder& operator()(Handle<Immediate::MemArg> handle, MemArg memory = {}) {
    return op_memory(handle.op, memory);
  }
  FunctionBuilder& operator()(Handle<Immediate::MemArgLane> handle, MemArg memory, uint8_t lane) {
    return op_memory_lane(handle.op, memory, lane);
  }
  FunctionBuilder& operator()(Handle<Immediate::Lane> handle, uint8_t lane) {
    return op_lane(handle.op, lane);
  }
  FunctionBuilder& operator()(Handle<Immediate::I32>, int32_t value) { return i32_const(value); }
  FunctionBuilder& operator()(Handle<Immediate::I64>, int64_t value) { return i64_const(value); }
  FunctionBuilder& operator()(Handle<Immediate::F32>, float value) { return f32_const(value); }
  FunctionBuilder& operator()(Handle<Immediate::F64>, double value) { return f64_const(value); }
  FunctionBuilder& operator()(Handle<Immediate::V128>, const V128& bytes) {
    return v128_const(bytes);
  }
  FunctionBuilder& operator()(Handle<Immediate::Shuffle>, const V128& lanes) {
    return shuffle(lanes);
  }
  FunctionBuilder& operator()(Handle<Immediate::RefType>, ValType type) { return ref_null(type); }
  FunctionBuilder& operator()(Handle<Immediate::SelectTypes>, ValType type) {
    return select_of(type);
  }

 private:
  friend class ModuleBuilder;

  FunctionBuilder& emit(const Instruction& instruction);
  FunctionBuilder& emit_block(Opcode op, BlockType type);
  FunctionBuilder& emit_memory(Opcode op, MemArg memory, uint8_t lane);
  FunctionBuilder& emit_vector(Opcode op, const V128& bytes);
  bool accepts(Opcode op, std::initializer_list<Immediate> allowed, const char* immediate_name);
  void record_error(std::string message);
  // Validates the instructions appended so far, up to a call of a function that is not declared
  // yet.
  void check_pending();
  // Adds the closing `end`.
  Status finish();

  const IndexSpaces& spaces_;
  std::string name_;
  uint32_t index_;
  uint32_t local_count_;
  Function function_;
  FunctionChecker checker_;
  size_t checked_ = 0;
  std::optional<Error> error_;
};

class ModuleBuilder {
 public:
  ModuleBuilder() = default;
  ModuleBuilder(const ModuleBuilder&) = delete;
  ModuleBuilder& operator=(const ModuleBuilder&) = delete;

  // Each returns the index in its index space. Imports come before definitions of the same kind.
  uint32_t add_type(const FuncType& type);
  uint32_t import_function(std::string_view module, std::string_view name, const FuncType& type);
  uint32_t import_memory(std::string_view module, std::string_view name, Limits limits);
  uint32_t import_table(std::string_view module, std::string_view name, TableType type);
  uint32_t import_global(std::string_view module, std::string_view name, GlobalType type);
  uint32_t add_memory(Limits limits);
  uint32_t add_table(TableType type);
  // A number type: `init` is its value. Reference types start as null, v128 as zero.
  uint32_t add_global(ValType type, bool is_mutable, int64_t init = 0);
  uint32_t add_global(bool is_mutable, float init);
  uint32_t add_global(bool is_mutable, double init);
  uint32_t add_global(GlobalType type, Code init);
  // The reference stays valid. The name goes into the name section.
  FunctionBuilder& add_function(std::string name, std::vector<ValType> params,
                                std::vector<ValType> results);

  void export_function(std::string_view name, uint32_t index);
  void export_table(std::string_view name, uint32_t index);
  void export_memory(std::string_view name, uint32_t index);
  void export_global(std::string_view name, uint32_t index);
  void set_start(uint32_t function);
  void set_name(std::string_view module_name);

  uint32_t add_data(uint32_t memory, uint64_t offset, SharedBytes bytes);
  uint32_t add_data(uint32_t memory, uint64_t offset, std::span<const uint8_t> bytes);
  uint32_t add_passive_data(std::span<const uint8_t> bytes);
  uint32_t add_elements(uint32_t table, uint64_t offset, std::vector<uint32_t> functions);
  uint32_t add_passive_elements(std::vector<uint32_t> functions);
  uint32_t declare_elements(std::vector<uint32_t> functions);
  void add_custom(std::string_view name, std::span<const uint8_t> bytes,
                  Section after = Section::data);

  // The validated module; the builder is empty afterwards.
  Result<Module> finish();

 private:
  uint32_t import(Import import, size_t defined, size_t index);
  int64_t address_bits(uint64_t address, bool is64);
  void add_export(std::string_view name, ExternalKind kind, uint32_t index);
  void record_error(std::string message);

  Module module_;
  IndexSpaces spaces_;
  std::list<FunctionBuilder> functions_;
  std::optional<Error> error_;
};

}  // namespace lathe::wasm
