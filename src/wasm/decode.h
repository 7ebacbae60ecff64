// Bytes to module (core specification, chapter 5). Safe on any input: memory grows with the bytes,
// never with a count they claim, and nesting costs no stack. An error states its offset: "at offset
// 0x1f: …".
#pragma once

#include "lathe/base/result.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

Result<Module> decode(std::span<const uint8_t> bytes);

}  // namespace lathe::wasm
