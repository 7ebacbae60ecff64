// Module to the text format, spelled as WABT's wasm2wat spells it and accepted by wat2wasm.
#pragma once

#include <string>

#include "wasm/module.h"

namespace lathe::wasm {

std::string print(const Module& module);
// One instruction without indentation: "i32.load offset=8 align=2".
std::string print(const Instruction& instruction, const Code& code);

}  // namespace lathe::wasm
