// Module to the text format, printed like WABT's wasm2wat and accepted by wat2wasm.
#pragma once

#include <span>
#include <string>

#include "lathe/base/result.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

std::string print(const Module& module);
// Decodes and prints. A few bytes can encode any number of locals, or repeat long signatures and
// names: output out of proportion to the module's size is an error.
Result<std::string> print(std::span<const uint8_t> bytes);
// One instruction without indentation: "i32.load offset=8 align=2".
std::string print(const Instruction& instruction, const Code& code);

}  // namespace lathe::wasm
