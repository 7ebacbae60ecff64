// Values and lookups that every iteration of an innermost loop repeats, computed once before it.
#include <algorithm>

#include "lathe/emit/wasm/kernel.h"
#include "lathe/loop/rebuild.h"

namespace lathe::emit_wasm {

using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using loop::VarId;
using wasm::Opcode;
using wasm::ValType;

namespace {

constexpr size_t kMaxHoisted = 8;  // of each kind; more would be spilled

class Invariants {
 public:
  Invariants(const loop::Kernel& kernel, const Stmt& loop) : kernel_(kernel), vars_{loop.var} {
    note(loop.body);
  }

  // Whether there are only stores in it, in unrolled and vector loops.
  bool is_innermost() const { return innermost_; }

  bool is_invariant(ExprId id) const {
    const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
    if (std::ranges::any_of(vars_, [&](VarId var) { return expr.address.coefficient(var) != 0; })) {
      return false;
    }
    if (expr.kind == ExprKind::Load && !is_fixed(expr)) return false;
    const auto* operands = expr.operands.data();
    return std::all_of(operands, operands + expr.operand_count(),
                       [this](ExprId operand) { return is_invariant(operand); });
  }

 private:
  bool is_fixed(const Expr& load) const {
    return load.buffer.space == loop::Space::Global && load.guards.empty() &&
           std::ranges::find(stored_, load.buffer) == stored_.end();
  }

  void note(std::span<const Stmt> body) {
    for (const Stmt& stmt : body) {
      if (stmt.kind == StmtKind::Store) {
        stored_.push_back(stmt.buffer);
        continue;
      }
      const bool unrolls = stmt.loop == LoopKind::Unroll || stmt.loop == LoopKind::Vector;
      innermost_ = innermost_ && stmt.kind == StmtKind::For && unrolls &&
                   kernel_.vars[static_cast<size_t>(stmt.var)].extent > 0;
      if (stmt.kind == StmtKind::For) vars_.push_back(stmt.var);
      note(stmt.body);
    }
  }

  const loop::Kernel& kernel_;
  std::vector<VarId> vars_;
  std::vector<loop::BufferRef> stored_;
  bool innermost_ = true;
};

}  // namespace

void KernelEmitter::hoist_invariants(const Stmt& loop) {
  const Invariants invariants(kernel_, loop);
  if (!invariants.is_innermost()) return;
  const auto hoist_lookup = [&](loop::BufferRef buffer, const loop::Lookup& lookup, ExprId index) {
    const auto key = std::tuple(index, lookup.extent, bytes_of(buffer, lookup));
    if (!lookup || scope_.lookups.size() == kMaxHoisted || scope_.lookups.contains(key)) return;
    if (!invariants.is_invariant(index)) return;
    const uint32_t local = *look_up(buffer, lookup, index);
    scope_.lookups[key] = local;
  };
  const auto hoist_splat = [&](ExprId id) {
    const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
    if (expr.kind == ExprKind::Constant) return;
    if (scope_.splats.size() == kMaxHoisted || scope_.splats.contains(id)) return;
    if (!invariants.is_invariant(id)) return;
    const uint32_t local = acquire(ValType::v128);
    emit_splat(id);
    code().op_index(Opcode::local_set, local);
    scope_.splats[id] = local;
  };
  const auto visit = [&](const auto& self, std::span<const Stmt> body, bool lanes) -> void {
    for (const Stmt& stmt : body) {
      self(self, stmt.body, lanes || stmt.loop == LoopKind::Vector);
      if (stmt.kind != StmtKind::Store) continue;
      begin_statement(stmt);
      hoist_lookup(stmt.buffer, stmt.lookup, stmt.index);
      if (lanes && target_.simd) hoist_splat(stmt.value);
      for (const ExprId id : loop::computed(kernel_, stmt)) {
        const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
        if (expr.kind == ExprKind::Load) {
          hoist_lookup(expr.buffer, expr.lookup, expr.operands[0]);
        } else if (lanes && target_.simd && !invariants.is_invariant(id)) {
          for (int i = 0; i < expr.operand_count(); ++i) {
            hoist_splat(expr.operands[static_cast<size_t>(i)]);
          }
        }
      }
      end_statement();
    }
  };
  visit(visit, loop.body, false);
}

void KernelEmitter::release_invariants() {
  for (const auto& [id, local] : std::exchange(scope_.splats, {})) release(ValType::v128, local);
  for (const auto& [key, local] : std::exchange(scope_.lookups, {})) release(ValType::i32, local);
}

}  // namespace lathe::emit_wasm
