// Module to the text format, spelled as WABT's wasm2wat spells it and accepted by wat2wasm.
#pragma once

#include <span>
#include <string>

#include "lathe/base/result.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

std::string print(const Module& module);
// Decodes and prints. A few bytes can stand for any number of locals, long signatures or names
// again and again: text that its module's size cannot justify is an error.
Result<std::string> print(std::span<const uint8_t> bytes);
// One instruction without indentation: "i32.load offset=8 align=2".
std::string print(const Instruction& instruction, const Code& code);

}  // namespace lathe::wasm
