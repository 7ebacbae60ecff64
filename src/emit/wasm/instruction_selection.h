// The WASM columns of scalar/ops.def and scalar/dtypes.def: the opcodes of operations on one number
// and on the lanes of a vector, and how each type is represented, loaded and stored.
#pragma once

#include <optional>

#include "lathe/scalar/op.h"
#include "lathe/wasm/opcode.h"
#include "lathe/wasm/types.h"

namespace lathe::emit_wasm {

// Whether the table has no instructions for it, so that it must be expanded into other operations
// before.
bool needs_expansion(scalar::Op op);
// For operands of a type of arithmetic or bool; nullopt where WebAssembly has no such instruction.
std::optional<wasm::Opcode> scalar_opcode(scalar::Op op, scalar::DType operand);
std::optional<wasm::Opcode> vector_opcode(scalar::Op op, scalar::DType operand);
// The WebAssembly representation of a type: as a value, and as a lane of a vector.
struct WasmType {
  wasm::ValType type;
  wasm::Opcode load, store;
  wasm::Opcode splat, extract_lane, replace_lane;
};
const WasmType& wasm_type(scalar::DType dtype);
// Bytes of a lane: 4 or 8.
int lane_size(scalar::DType dtype);

}  // namespace lathe::emit_wasm
