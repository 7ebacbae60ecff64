// Index spaces: imports, then definitions.
#include "lathe/wasm/module.h"

namespace lathe::wasm {

Code constant_code(Opcode op, uint64_t value) {
  Code code;
  code.instructions = {{.op = op, .value = value}, {.op = Opcode::end}};
  return code;
}

SharedBytes shared(std::span<const uint8_t> bytes) { return SharedBytes(std::as_bytes(bytes)); }

bool Names::empty() const { return *this == Names{}; }

void IndexSpaces::add(const Import& import) {
  switch (import.kind) {
    case ExternalKind::function:
      function_types.push_back(import.type);
      ++imported_functions;
      break;
    case ExternalKind::table:
      tables.push_back(import.table);
      break;
    case ExternalKind::memory:
      memories.push_back(import.memory);
      break;
    case ExternalKind::global:
      globals.push_back(import.global);
      ++imported_globals;
      break;
  }
}

IndexSpaces index_spaces(const Module& module) {
  IndexSpaces spaces;
  for (const Import& import : module.imports) spaces.add(import);
  for (const Function& function : module.functions) spaces.function_types.push_back(function.type);
  for (const TableType& table : module.tables) spaces.tables.push_back(table);
  for (const Limits& memory : module.memories) spaces.memories.push_back(memory);
  for (const Global& global : module.globals) spaces.globals.push_back(global.type);
  return spaces;
}

}  // namespace lathe::wasm
