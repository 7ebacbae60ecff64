// Operations on scalars that are on the stack.
#pragma once

#include "lathe/emit/wasm/locals.h"
#include "lathe/scalar/op.h"

namespace lathe::emit_wasm {

// Applies the operation to operands of this type of arithmetic: by its instruction, or by several
// where WebAssembly has none.
void apply_to_scalars(wasm::FunctionBuilder& code, Locals& locals, scalar::Op op,
                      scalar::DType dtype);

}  // namespace lathe::emit_wasm
