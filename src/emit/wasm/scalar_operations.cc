#include "lathe/emit/wasm/scalar_operations.h"

#include "lathe/base/check.h"
#include "lathe/emit/wasm/constants.h"
#include "lathe/emit/wasm/instruction_selection.h"

namespace lathe::emit_wasm {

using scalar::DType;
using scalar::Number;
using scalar::Op;
using wasm::Opcode;
using wasm::ValType;

namespace {

// Integer division of x by y without traps. The instruction traps on division by 0, and on that of
// the lowest number by -1. For y = 0 and for a signed y = -1 the divisor is 1 instead, and the
// result is x * y: 0 or -x.
void divide_scalars(wasm::FunctionBuilder& code, Locals& locals, DType dtype) {
  const bool is_signed = scalar::is_signed(dtype), wide = lane_size(dtype) == 8;
  const ValType type = wasm_type(dtype).type;
  const uint32_t x = locals.acquire(type), y = locals.acquire(type),
                 special = locals.acquire(ValType::i32);
  const auto get = [&code](uint32_t local) { code.op_index(Opcode::local_get, local); };
  code.op_index(Opcode::local_set, y).op_index(Opcode::local_set, x);
  get(x);
  get(y);
  code.op(*scalar_opcode(Op::Mul, dtype));
  get(x);
  push_scalar(code, Number::from(dtype, 1));
  get(y);
  get(y);
  if (is_signed) {
    push_scalar(code, Number::from(dtype, 1));
    code.op(*scalar_opcode(Op::Add, dtype));
    push_scalar(code, Number::from(dtype, 2));
    code.op(wide ? Opcode::i64_lt_u : Opcode::i32_lt_u);
  } else {
    code.op(wide ? Opcode::i64_eqz : Opcode::i32_eqz);
  }
  code.op_index(Opcode::local_tee, special).op(Opcode::select);
  code.op(wide ? (is_signed ? Opcode::i64_div_s : Opcode::i64_div_u)
               : (is_signed ? Opcode::i32_div_s : Opcode::i32_div_u));
  get(special);
  code.op(Opcode::select);
  locals.release(type, x);
  locals.release(type, y);
  locals.release(ValType::i32, special);
}

}  // namespace

void apply_to_scalars(wasm::FunctionBuilder& code, Locals& locals, Op op, DType dtype) {
  if (const auto opcode = scalar_opcode(op, dtype)) {
    code.op(*opcode);
    return;
  }
  const ValType type = wasm_type(dtype).type;
  const auto get = [&code](uint32_t local) { code.op_index(Opcode::local_get, local); };
  const auto set = [&code](uint32_t local) { code.op_index(Opcode::local_set, local); };
  switch (op) {
    case Op::Max:
    case Op::Min: {
      const uint32_t x = locals.acquire(type), y = locals.acquire(type);
      set(y);
      code.op_index(Opcode::local_tee, x);
      get(y);
      get(x);
      get(y);
      code.op(*scalar_opcode(op == Op::Max ? Op::Gt : Op::Lt, dtype)).op(Opcode::select);
      locals.release(type, x);
      locals.release(type, y);
      return;
    }
    case Op::Abs:
    case Op::Neg: {
      if (op == Op::Abs && !scalar::is_signed(dtype)) return;
      const uint32_t x = locals.acquire(type);
      set(x);
      push_scalar(code, Number::from(dtype, 0));
      get(x);
      code.op(*scalar_opcode(Op::Sub, dtype));
      if (op == Op::Abs) {
        get(x);
        get(x);
        push_scalar(code, Number::from(dtype, 0));
        code.op(*scalar_opcode(Op::Lt, dtype)).op(Opcode::select);
      }
      return locals.release(type, x);
    }
    case Op::Div:
      return divide_scalars(code, locals, dtype);
    case Op::ToBits:
      code.op(dtype == DType::F64 ? Opcode::i64_reinterpret_f64 : Opcode::i32_reinterpret_f32);
      return;
    case Op::FromBits:
      code.op(dtype == DType::I64 ? Opcode::f64_reinterpret_i64 : Opcode::f32_reinterpret_i32);
      return;
    default:
      LATHE_CHECK(op == Op::Detach);
  }
}

}  // namespace lathe::emit_wasm
