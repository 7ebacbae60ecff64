// Everything of a module but its function bodies.
#include <algorithm>
#include <bit>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/wasm/assembler.h"
#include "lathe/wasm/validate.h"

namespace lathe::wasm {
namespace {

Code constant_of(ValType type, int64_t value) {
  switch (type) {
    case ValType::i32: {
      const int64_t signed_value = static_cast<int32_t>(value);
      return constant_code(Opcode::i32_const, static_cast<uint64_t>(signed_value));
    }
    case ValType::i64:
      return constant_code(Opcode::i64_const, static_cast<uint64_t>(value));
    case ValType::f32:
      return constant_code(Opcode::f32_const, std::bit_cast<uint32_t>(static_cast<float>(value)));
    case ValType::f64:
      return constant_code(Opcode::f64_const, std::bit_cast<uint64_t>(static_cast<double>(value)));
    case ValType::v128: {
      Code code = constant_code(Opcode::v128_const, 0);
      code.vectors.push_back({});
      return code;
    }
    case ValType::funcref:
    case ValType::externref: {
      Code code = constant_code(Opcode::ref_null, 0);
      code.instructions[0].index = static_cast<uint32_t>(type);
      return code;
    }
  }
  return {};
}

template <class Item>
uint32_t add_to(std::vector<Item>& items, Item item) {
  items.push_back(std::move(item));
  return static_cast<uint32_t>(items.size() - 1);
}

}  // namespace

void ModuleBuilder::record_error(std::string message) {
  if (!error_) error_ = Error{std::move(message)};
}

uint32_t ModuleBuilder::add_type(const FuncType& type) {
  const auto found = std::ranges::find(module_.types, type);
  if (found == module_.types.end()) return add_to(module_.types, type);
  return static_cast<uint32_t>(found - module_.types.begin());
}

uint32_t ModuleBuilder::import(Import import, size_t defined, size_t index) {
  if (defined > 0) {
    record_error(concat("import \"", import.name, "\" comes after a definition of its kind"));
  }
  spaces_.add(import);
  module_.imports.push_back(std::move(import));
  return static_cast<uint32_t>(index);
}

uint32_t ModuleBuilder::import_function(std::string_view module, std::string_view name,
                                        const FuncType& type) {
  Import item = {
      std::string(module), std::string(name), ExternalKind::function, add_type(type), {}, {}, {}};
  return import(std::move(item), functions_.size(), spaces_.function_types.size());
}

uint32_t ModuleBuilder::import_memory(std::string_view module, std::string_view name,
                                      Limits limits) {
  Import item = {std::string(module), std::string(name), ExternalKind::memory, 0, {}, limits, {}};
  return import(std::move(item), module_.memories.size(), spaces_.memories.size());
}

uint32_t ModuleBuilder::import_table(std::string_view module, std::string_view name,
                                     TableType type) {
  Import item = {std::string(module), std::string(name), ExternalKind::table, 0, type, {}, {}};
  return import(std::move(item), module_.tables.size(), spaces_.tables.size());
}

uint32_t ModuleBuilder::import_global(std::string_view module, std::string_view name,
                                      GlobalType type) {
  Import item = {std::string(module), std::string(name), ExternalKind::global, 0, {}, {}, type};
  return import(std::move(item), module_.globals.size(), spaces_.globals.size());
}

uint32_t ModuleBuilder::add_memory(Limits limits) {
  module_.memories.push_back(limits);
  return add_to(spaces_.memories, limits);
}

uint32_t ModuleBuilder::add_table(TableType type) {
  module_.tables.push_back(type);
  return add_to(spaces_.tables, type);
}

uint32_t ModuleBuilder::add_global(ValType type, bool is_mutable, int64_t init) {
  return add_global({type, is_mutable}, constant_of(type, init));
}

uint32_t ModuleBuilder::add_global(bool is_mutable, float init) {
  return add_global({ValType::f32, is_mutable},
                    constant_code(Opcode::f32_const, std::bit_cast<uint32_t>(init)));
}

uint32_t ModuleBuilder::add_global(bool is_mutable, double init) {
  return add_global({ValType::f64, is_mutable},
                    constant_code(Opcode::f64_const, std::bit_cast<uint64_t>(init)));
}

uint32_t ModuleBuilder::add_global(GlobalType type, Code init) {
  module_.globals.push_back({type, std::move(init)});
  return add_to(spaces_.globals, type);
}

FunctionBuilder& ModuleBuilder::add_function(std::string name, std::vector<ValType> params,
                                             std::vector<ValType> results) {
  const uint32_t type = add_type({std::move(params), std::move(results)});
  const uint32_t index = add_to(spaces_.function_types, type);
  if (!name.empty()) module_.names.functions[index] = name;
  return functions_.emplace_back(module_, spaces_, std::move(name), index, type);
}

void ModuleBuilder::add_export(std::string_view name, ExternalKind kind, uint32_t index) {
  module_.exports.push_back({std::string(name), kind, index});
}

void ModuleBuilder::export_function(std::string_view name, uint32_t index) {
  add_export(name, ExternalKind::function, index);
}
void ModuleBuilder::export_table(std::string_view name, uint32_t index) {
  add_export(name, ExternalKind::table, index);
}
void ModuleBuilder::export_memory(std::string_view name, uint32_t index) {
  add_export(name, ExternalKind::memory, index);
}
void ModuleBuilder::export_global(std::string_view name, uint32_t index) {
  add_export(name, ExternalKind::global, index);
}

void ModuleBuilder::set_start(uint32_t function) { module_.start = function; }
void ModuleBuilder::set_name(std::string_view name) { module_.names.module = std::string(name); }

uint32_t ModuleBuilder::add_data(uint32_t memory, uint64_t offset, std::span<const uint8_t> bytes) {
  return add_data(memory, offset, shared(bytes));
}

uint32_t ModuleBuilder::add_data(uint32_t memory, uint64_t offset, SharedBytes bytes) {
  const bool is64 = memory < spaces_.memories.size() && spaces_.memories[memory].is64;
  Data data;
  data.memory = memory;
  data.offset = constant_of(is64 ? ValType::i64 : ValType::i32, address_bits(offset, is64));
  data.bytes = std::move(bytes);
  return add_to(module_.data, std::move(data));
}

uint32_t ModuleBuilder::add_passive_data(std::span<const uint8_t> bytes) {
  Data data;
  data.mode = SegmentMode::passive;
  data.bytes = shared(bytes);
  return add_to(module_.data, std::move(data));
}

uint32_t ModuleBuilder::add_elements(uint32_t table, uint64_t offset,
                                     std::vector<uint32_t> functions) {
  const bool is64 = table < spaces_.tables.size() && spaces_.tables[table].limits.is64;
  Element element;
  element.table = table;
  element.offset = constant_of(is64 ? ValType::i64 : ValType::i32, address_bits(offset, is64));
  element.functions = std::move(functions);
  return add_to(module_.elements, std::move(element));
}

uint32_t ModuleBuilder::add_passive_elements(std::vector<uint32_t> functions) {
  Element element;
  element.mode = SegmentMode::passive;
  element.functions = std::move(functions);
  return add_to(module_.elements, std::move(element));
}

uint32_t ModuleBuilder::declare_elements(std::vector<uint32_t> functions) {
  Element element;
  element.mode = SegmentMode::declared;
  element.functions = std::move(functions);
  return add_to(module_.elements, std::move(element));
}

// An address as the signed operand of i32.const or i64.const; one that does not fit is an error.
int64_t ModuleBuilder::address_bits(uint64_t address, bool is64) {
  if (is64) return static_cast<int64_t>(address);
  if (address > UINT32_MAX) record_error(concat("offset ", address, " does not fit 32 bits"));
  return static_cast<int32_t>(static_cast<uint32_t>(address));
}

void ModuleBuilder::add_custom(std::string_view name, std::span<const uint8_t> bytes,
                               Section after) {
  const auto position = std::ranges::upper_bound(module_.customs, after, {}, &CustomSection::after);
  insert_at(module_.customs, position - module_.customs.begin(),
            {std::string(name), {bytes.begin(), bytes.end()}, after});
}

Result<Module> ModuleBuilder::finish() {
  if (error_) return std::unexpected(*error_);
  for (FunctionBuilder& function : functions_) LATHE_TRY(function.finish());
  for (FunctionBuilder& function : functions_) {
    module_.functions.push_back(std::move(function.function_));
  }
  functions_.clear();
  if constexpr (kBuildersCheck) LATHE_TRY(validate_around_bodies(module_));
  return std::move(module_);
}

}  // namespace lathe::wasm
