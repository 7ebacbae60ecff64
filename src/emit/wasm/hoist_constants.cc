// Hoists vector constants that a loop uses into locals before its first iteration.
#include <algorithm>

#include "lathe/emit/wasm/kernel.h"
#include "lathe/loop/rebuild.h"

namespace lathe::emit_wasm {

using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using wasm::Opcode;
using wasm::ValType;

// Engines materialize a vector constant by three instructions wherever it occurs, even in loops,
// except all bits 0 or all 1; a local costs up to one.
void KernelEmitter::hoist_constants(const Stmt& stmt) {
  const auto hoist = [&](const wasm::V128& bytes) {
    const auto is_cheap = [&](uint8_t each) { return each == bytes[0] && (each + 1) % 256 < 2; };
    if (std::ranges::all_of(bytes, is_cheap) || scope_.constants.contains(bytes)) return;
    const uint32_t local = acquire(ValType::v128);
    code().v128_const(bytes).op_index(Opcode::local_set, local);
    scope_.constants[bytes] = local;
  };
  const auto visit = [&](const auto& self, std::span<const Stmt> body, loop::VarId lane) -> void {
    for (const Stmt& inner : body) {
      if (inner.kind == StmtKind::Store && lane >= 0) {
        begin_statement(inner);
        const auto usual = loop::computed(kernel_, inner, /*rare=*/false);
        for (loop::ExprId id : reached_) {
          if (!std::ranges::binary_search(usual, id)) continue;
          const loop::Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
          std::ranges::for_each(constants_of(expr, lane), hoist);
        }
        end_statement();
      }
      if (inner.outlined && fixed_.values.empty()) continue;
      self(self, inner.body, inner.loop == LoopKind::Vector ? inner.var : lane);
    }
  };
  if (target_.simd) visit(visit, stmt.body, -1);
}

std::vector<wasm::V128> KernelEmitter::constants_of(const loop::Expr& expr,
                                                    loop::VarId lane) const {
  std::vector<wasm::V128> found;
  if (expr.kind == loop::ExprKind::Constant) found.push_back(vector_of(expr.constant));
  if (expr.kind == loop::ExprKind::Index && expr.address.coefficient(lane) != 0) {
    found.push_back(steps_of_lanes(expr.address.coefficient(lane)));
  }
  if (expr.kind == loop::ExprKind::Cast) {
    const auto from = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
    for (const auto& each : constants_of_cast(from, expr.dtype)) found.push_back(vector_of(each));
  }
  return found;
}

void KernelEmitter::release_constants() {
  for (const auto& [bytes, local] : scope_.constants) release(ValType::v128, local);
  scope_.constants.clear();
}

}  // namespace lathe::emit_wasm
