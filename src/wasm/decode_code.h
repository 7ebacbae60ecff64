// Bytes to instructions (core specification 5.4), up to the `end` that closes the sequence.
#pragma once

#include "lathe/wasm/byte_reader.h"
#include "lathe/wasm/module.h"

namespace lathe::wasm {

Result<ValType> read_val_type(ByteReader& reader);
Result<ValType> read_reference_type(ByteReader& reader);
Result<Code> read_code(ByteReader& reader);

}  // namespace lathe::wasm
