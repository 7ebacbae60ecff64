// The WASM columns of scalar/ops.def and scalar/dtypes.def: the opcodes of operations on one number
// and on the lanes of a vector, and how each type is held, loaded and stored.
#pragma once

#include <optional>

#include "lathe/scalar/op.h"
#include "lathe/wasm/opcode.h"
#include "lathe/wasm/types.h"

namespace lathe::emit {

// Whether the table has no instructions for it, so that it must be spelled in others before.
bool lacks(scalar::Op op);
// On operands of a type of arithmetic or truths; nothing where WebAssembly has no such instruction.
std::optional<wasm::Opcode> scalar_opcode(scalar::Op op, scalar::DType operand);
std::optional<wasm::Opcode> vector_opcode(scalar::Op op, scalar::DType operand);
// How WebAssembly holds a type: as a value, and as a lane of a vector.
struct Holding {
  wasm::ValType type;
  wasm::Opcode load, store;
  wasm::Opcode splat, extract_lane, replace_lane;
};
const Holding& holding(scalar::DType dtype);
// Bytes of a lane: 4 or 8.
int lane_size(scalar::DType dtype);

}  // namespace lathe::emit
