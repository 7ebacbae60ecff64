// Instructions to bytes (core specification 5.4), one by one.
#pragma once

#include "lathe/wasm/byte_writer.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

void append_instruction(Bytes& out, const Instruction& instruction, const Code& code);
void append_code(Bytes& out, const Code& code);

}  // namespace lathe::wasm
