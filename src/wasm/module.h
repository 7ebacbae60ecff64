// A WebAssembly module in memory: what the decoder makes, the encoder writes and the validator
// checks.
#pragma once

#include <array>
#include <map>
#include <span>

#include "lathe/base/shared_bytes.h"
#include "lathe/wasm/opcode.h"

namespace lathe::wasm {

using V128 = std::array<uint8_t, 16>;

inline constexpr int64_t kEmptyBlock = -64;
// The block type of one result, or of none.
constexpr int64_t block_type_of(ValType type) { return static_cast<int64_t>(type) - 0x80; }

// The immediates are described at Immediate.
struct Instruction {
  Opcode op = Opcode::unreachable;
  uint8_t align = 0;
  uint8_t lane = 0;
  uint32_t index = 0;
  uint32_t second = 0;
  uint64_t value = 0;
  bool operator==(const Instruction&) const = default;
};

// A sequence of instructions with its closing `end`, and the long immediates they point into.
struct Code {
  std::vector<Instruction> instructions;
  std::vector<uint32_t> labels;
  std::vector<V128> vectors;
  std::vector<ValType> types;
};

// The bits of a constant as a one-instruction Code with `end`.
Code constant_code(Opcode op, uint64_t value);

struct LocalRun {
  uint32_t count = 0;
  ValType type = ValType::i32;
};

// The limit of V8, also ours.
inline constexpr uint32_t kMaxLocals = 50000;

struct Function {
  uint32_t type = 0;
  std::vector<LocalRun> locals;  // without the parameters
  Code code;
};

// Only the member of its kind counts.
struct Import {
  std::string module;
  std::string name;
  ExternalKind kind = ExternalKind::function;
  uint32_t type = 0;
  TableType table;
  Limits memory;
  GlobalType global;
};

struct Global {
  GlobalType type;
  Code init;
};

struct Export {
  std::string name;
  ExternalKind kind = ExternalKind::function;
  uint32_t index = 0;
};

enum class SegmentMode : uint8_t { active, passive, declared };

struct Element {
  SegmentMode mode = SegmentMode::active;
  uint32_t table = 0;
  Code offset;  // active
  ValType type = ValType::funcref;
  bool uses_expressions = false;
  std::vector<uint32_t> functions;
  std::vector<Code> expressions;
  size_t size() const { return uses_expressions ? expressions.size() : functions.size(); }
};

SharedBytes shared(std::span<const uint8_t> bytes);

struct Data {
  SegmentMode mode = SegmentMode::active;
  uint32_t memory = 0;
  Code offset;  // active
  SharedBytes bytes;
};

// The non-custom sections in the order of the binary format; custom sections may occur anywhere
// between them.
enum class Section : uint8_t {
  none,
  type,
  import,
  function,
  table,
  memory,
  global,
  export_,
  start,
  element,
  data_count,
  code,
  data,
};

struct CustomSection {
  std::string name;
  std::vector<uint8_t> bytes;
  Section after = Section::data;  // encoded after this section
};

// The "name" custom section: names for people and debuggers, by index.
struct Names {
  std::optional<std::string> module;
  std::map<uint32_t, std::string> functions;
  std::map<uint32_t, std::map<uint32_t, std::string>> locals;  // by function
  std::map<uint32_t, std::string> globals;
  bool operator==(const Names&) const = default;
  bool empty() const;
};

struct Module {
  std::vector<FuncType> types;
  std::vector<Import> imports;
  std::vector<Function> functions;
  std::vector<TableType> tables;
  std::vector<Limits> memories;
  std::vector<Global> globals;
  std::vector<Export> exports;
  std::optional<uint32_t> start;
  std::vector<Element> elements;
  std::vector<Data> data;
  bool has_data_count = false;
  std::vector<CustomSection> customs;  // by ascending `after`
  // Encoded as the last section, unless `customs` has a "name" section.
  Names names;
};

// Imports come first in each index space (core specification 2.5.1).
struct IndexSpaces {
  std::vector<uint32_t> function_types;
  std::vector<TableType> tables;
  std::vector<Limits> memories;
  std::vector<GlobalType> globals;
  uint32_t imported_functions = 0;
  uint32_t imported_globals = 0;

  void add(const Import& import);
};
IndexSpaces index_spaces(const Module& module);

}  // namespace lathe::wasm
