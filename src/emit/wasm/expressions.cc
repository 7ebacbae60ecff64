#include "lathe/emit/wasm/expressions.h"

#include "lathe/base/check.h"
#include "lathe/emit/wasm/instruction_selection.h"

namespace lathe::emit_wasm {

using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using wasm::Opcode;
using wasm::ValType;

void ExpressionEmitter::emit_scalar(ExprId id) {
  if (values_.reload(id, false)) return;
  const Expr& expr = context_.expr(id);
  switch (expr.kind) {
    case ExprKind::Constant:
      return push_scalar(code_, expr.constant);
    case ExprKind::Index:
      addresses_.push_index(expr.address);
      break;
    case ExprKind::Load:
      memory_.load_scalar(expr);
      break;
    case ExprKind::Apply:
      operations_.apply_scalar(expr);
      break;
    case ExprKind::Cast:
      emit_scalar(expr.operands[0]);
      casts_.convert_scalar(context_.operand(expr, 0).dtype, expr.dtype);
      break;
    case ExprKind::Reduce:
      LATHE_CHECK(!"threads in a program for one thread");
  }
  values_.save(id, false, wasm_type(expr.dtype).type);
}

void ExpressionEmitter::emit_vector(ExprId id) {
  if (values_.reload(id, true)) return;
  const Expr& expr = context_.expr(id);
  if (expr.kind == ExprKind::Constant) return constants_.push(expr.constant);
  if (pairs_.emit(id)) return values_.save(id, true, ValType::v128);
  if (!values_.varies(id)) {
    if (const auto hoisted = splats_.find(id); hoisted != splats_.end()) {
      code_.op_index(Opcode::local_get, hoisted->second);
      return;
    }
    emit_splat(id);
  } else {
    switch (expr.kind) {
      case ExprKind::Constant:
        break;
      case ExprKind::Index:
        index_vector(expr);
        break;
      case ExprKind::Load:
        memory_.load_vector(expr);
        break;
      case ExprKind::Apply:
        operations_.apply_vector(expr);
        break;
      case ExprKind::Cast:
        emit_vector(expr.operands[0]);
        casts_.convert_vector(context_.operand(expr, 0).dtype, expr.dtype);
        break;
      case ExprKind::Reduce:
        LATHE_CHECK(!"threads in a program for one thread");
    }
  }
  values_.save(id, true, ValType::v128);
}

void ExpressionEmitter::emit_splat(ExprId id) {
  const Expr& expr = context_.expr(id);
  if (expr.kind == ExprKind::Load && memory_.load_splat(expr)) return;
  emit_scalar(id);
  lanes_.splat(expr.dtype);
}

void ExpressionEmitter::index_vector(const Expr& expr) {
  addresses_.push_index(expr.address);
  code_.op(Opcode::i32x4_splat);
  constants_.push(steps_of_lanes(expr.address.coefficient(addresses_.lane())));
  code_.op(Opcode::i32x4_add);
}

void ExpressionEmitter::hoist_splat(ExprId id) {
  const uint32_t local = locals_.acquire(ValType::v128);
  emit_splat(id);
  code_.op_index(Opcode::local_set, local);
  splats_[id] = local;
}

void ExpressionEmitter::release_hoisted() {
  for (const auto& [id, local] : splats_) locals_.release(ValType::v128, local);
  splats_.clear();
}

}  // namespace lathe::emit_wasm
