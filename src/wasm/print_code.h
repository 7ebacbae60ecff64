// One instruction, constant or string in the text format.
#pragma once

#include <string>

#include "lathe/wasm/module.h"

namespace lathe::wasm {

// Identifiers that replace indices, with their dollar sign. An index without one is printed as a
// number.
struct Identifiers {
  std::map<uint32_t, std::string> functions;
  std::map<uint32_t, std::string> globals;
  std::map<uint32_t, std::string> locals;  // of the function being printed
};

std::string index_text(const std::map<uint32_t, std::string>& identifiers, uint32_t index);
// "$name" of each name: characters that the text format does not allow become '_', repeated ones
// get their index.
std::map<uint32_t, std::string> make_identifiers(const std::map<uint32_t, std::string>& names);
std::string quoted(std::string_view bytes);
// Exact, in hexadecimal: "0x1.8p+1", "-inf", "nan:0x200000".
std::string f32_text(uint32_t bits);
std::string f64_text(uint64_t bits);
// " (param i32 i32) (result f32)"
std::string signature_text(std::span<const ValType> params, std::span<const ValType> results);

// `types` resolves block types. No label comments.
void append_instruction_text(std::string& out, const Instruction& instruction, const Code& code,
                             const std::vector<FuncType>& types, const Identifiers& identifiers);

}  // namespace lathe::wasm
