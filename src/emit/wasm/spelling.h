// The WASM column of scalar/ops.def: the opcode that spells a scalar operation on one number or on
// four lanes.
#pragma once

#include <optional>

#include "scalar/op.h"
#include "wasm/opcode.h"

namespace lathe::emit {

// Whether the table has no instructions for it, so that it must be spelled in others before.
bool lacks(scalar::Op op);
// Bool operands use the i32 columns. Nothing where the table says NONE.
std::optional<wasm::Opcode> scalar_opcode(scalar::Op op, scalar::DType operand);
std::optional<wasm::Opcode> vector_opcode(scalar::Op op, scalar::DType operand);

}  // namespace lathe::emit
