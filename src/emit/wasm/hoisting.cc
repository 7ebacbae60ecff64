#include "lathe/emit/wasm/hoisting.h"

#include <algorithm>

#include "lathe/loop/rebuild.h"

namespace lathe::emit_wasm {

using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using loop::VarId;

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
    const Expr& expr = kernel_.exprs[id];
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
      innermost_ =
          innermost_ && stmt.kind == StmtKind::For && unrolls && kernel_.vars[stmt.var].extent > 0;
      if (stmt.kind == StmtKind::For) vars_.push_back(stmt.var);
      note(stmt.body);
    }
  }

  const loop::Kernel& kernel_;
  std::vector<VarId> vars_;
  std::vector<loop::BufferRef> stored_;
  bool innermost_ = true;
};

// The vector constants that the expression needs in addition to its operands, if `lane` is the
// variable of the lanes.
std::vector<wasm::V128> constants_of(const KernelContext& context, const Expr& expr, VarId lane) {
  std::vector<wasm::V128> found;
  if (expr.kind == ExprKind::Constant) found.push_back(vector_of(expr.constant));
  if (expr.kind == ExprKind::Index && expr.address.coefficient(lane) != 0) {
    found.push_back(steps_of_lanes(expr.address.coefficient(lane)));
  }
  if (expr.kind == ExprKind::Cast) {
    const auto from = context.operand(expr, 0).dtype;
    for (const auto& each : constants_of_cast(from, expr.dtype)) found.push_back(vector_of(each));
  }
  return found;
}

}  // namespace

void LoopHoister::hoist_constants(const Stmt& loop) {
  if (context_.target.simd) hoist_constants(loop.body, -1);
}

void LoopHoister::hoist_constants(std::span<const Stmt> body, VarId lane) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == StmtKind::Store && lane >= 0) {
      values_.begin(stmt);
      const auto usual = loop::computed(context_.kernel, stmt, /*rare=*/false);
      for (const ExprId id : values_.reached()) {
        if (!std::ranges::binary_search(usual, id)) continue;
        for (const wasm::V128& each : constants_of(context_, context_.expr(id), lane)) {
          constants_.hoist(each);
        }
      }
      values_.end();
    }
    if (is_outlined(stmt)) continue;
    hoist_constants(stmt.body, stmt.loop == LoopKind::Vector ? stmt.var : lane);
  }
}

void LoopHoister::hoist_invariants(const Stmt& loop) {
  const Invariants invariants(context_.kernel, loop);
  if (!invariants.is_innermost()) return;
  const auto hoist_lookup = [&](loop::BufferRef buffer, const loop::Lookup& lookup, ExprId index) {
    if (!lookup || lookups_.hoisted_count() == kMaxHoisted) return;
    if (lookups_.is_hoisted(buffer, lookup, index) || !invariants.is_invariant(index)) return;
    lookups_.hoist(buffer, lookup, index);
  };
  const auto hoist_splat = [&](ExprId id) {
    if (context_.expr(id).kind == ExprKind::Constant) return;
    if (expressions_.hoisted_count() == kMaxHoisted || expressions_.is_hoisted(id)) return;
    if (invariants.is_invariant(id)) expressions_.hoist_splat(id);
  };
  const auto visit = [&](const auto& self, std::span<const Stmt> body, bool lanes) -> void {
    for (const Stmt& stmt : body) {
      self(self, stmt.body, lanes || stmt.loop == LoopKind::Vector);
      if (stmt.kind != StmtKind::Store) continue;
      values_.begin(stmt);
      hoist_lookup(stmt.buffer, stmt.lookup, stmt.index);
      if (lanes && context_.target.simd) hoist_splat(stmt.value);
      for (const ExprId id : loop::computed(context_.kernel, stmt)) {
        const Expr& expr = context_.expr(id);
        if (expr.kind == ExprKind::Load) {
          hoist_lookup(expr.buffer, expr.lookup, expr.operands[0]);
        } else if (lanes && context_.target.simd && !invariants.is_invariant(id)) {
          for (int i = 0; i < expr.operand_count(); ++i) hoist_splat(expr.operands[i]);
        }
      }
      values_.end();
    }
  };
  visit(visit, loop.body, false);
}

void LoopHoister::release_invariants() {
  expressions_.release_hoisted();
  lookups_.release_hoisted();
}

}  // namespace lathe::emit_wasm
