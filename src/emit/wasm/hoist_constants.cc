// Vector constants that a loop uses, kept in locals from before its first iteration.
#include "lathe/emit/wasm/kernel.h"

namespace lathe::emit {

using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using wasm::Opcode;
using wasm::ValType;

// Engines write a vector constant out as three instructions wherever it stands, loop or not; a
// local costs one at most.
void KernelEmitter::hoist_constants(const Stmt& stmt) {
  const auto hoist = [&](const Stmt& store) {
    begin_statement(store);
    for (loop::ExprId id : reached_) {
      const loop::Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
      const auto moved = moved_halves(expr);
      if (expr.kind != loop::ExprKind::Constant && !moved) continue;
      const loop::Number number = moved ? moved->factor() : expr.constant;
      const uint64_t bits = half_of_vector(number);
      if (bits == 0 || bits == ~uint64_t{0} || scope_.constants.contains(bits)) continue;
      const uint32_t local = acquire(ValType::v128);
      vector_constant(number);
      code().op_index(Opcode::local_set, local);
      scope_.constants[bits] = local;
    }
    end_statement();
  };
  const auto visit = [&](const auto& self, std::span<const Stmt> body, bool lanes) -> void {
    for (const Stmt& inner : body) {
      if (inner.kind == StmtKind::Store && lanes) hoist(inner);
      if (inner.outlined && fixed_.values.empty()) continue;
      self(self, inner.body, lanes || inner.loop == LoopKind::Vector);
    }
  };
  if (target_.simd) visit(visit, stmt.body, false);
}

void KernelEmitter::release_constants() {
  for (const auto& [bits, local] : scope_.constants) release(ValType::v128, local);
  scope_.constants.clear();
}

}  // namespace lathe::emit
