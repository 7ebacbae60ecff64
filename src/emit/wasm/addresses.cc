#include "lathe/emit/wasm/addresses.h"

#include <algorithm>

#include "lathe/loop/rebuild.h"

namespace lathe::emit_wasm {

using loop::Affine;
using loop::Expr;
using loop::ExprKind;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using loop::VarId;

namespace {

class Collector {
 public:
  Collector(const loop::Module& module, const Placement& placement, const loop::Kernel& kernel,
            std::vector<VarId> nest)
      : module_(module), placement_(placement), kernel_(kernel), nest_(std::move(nest)) {}

  void visit(std::span<const Stmt> body) {
    for (const Stmt& stmt : body) visit(stmt);
  }

  std::set<InductionVariable> inductions;

 private:
  static bool is_open(LoopKind kind) {
    return kind == LoopKind::Serial || kind == LoopKind::Parallel;
  }

  void visit(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::For:
        if (is_open(stmt.loop)) nest_.push_back(stmt.var);
        visit(stmt.body);
        if (is_open(stmt.loop)) nest_.pop_back();
        return;
      case StmtKind::If:
        guards(stmt.guards);
        return visit(stmt.body);
      case StmtKind::When:
        visit_exprs(stmt);
        return visit(stmt.body);
      case StmtKind::Store:
        access(stmt.buffer, stmt.address);
        return visit_exprs(stmt);
      case StmtKind::Barrier:
        return;
    }
  }

  void add(const Affine& affine, int64_t scale, int32_t base = -1) {
    InductionVariable induction = split_address(affine, scale, nest_, {}).induction;
    induction.base = base;
    if (!induction.empty()) inductions.insert(std::move(induction));
  }

  void access(loop::BufferRef buffer, const Affine& address) {
    if (buffer.space == loop::Space::Register) return;
    add(address, scalar::size_of(module_.buffers[buffer.id].dtype), placement_.base_of(buffer));
  }

  void guards(std::span<const loop::Guard> list) {
    for (const loop::Guard& guard : list) add(guard.index, 1);
  }

  void visit_exprs(const Stmt& stmt) {
    for (const loop::ExprId id : loop::computed(kernel_, stmt)) {
      const Expr& expr = kernel_.exprs[id];
      if (expr.kind == ExprKind::Index) add(expr.address, 1);
      if (expr.kind == ExprKind::Load) {
        access(expr.buffer, expr.address);
        guards(expr.guards);
      }
    }
  }

  const loop::Module& module_;
  const Placement& placement_;
  const loop::Kernel& kernel_;
  std::vector<VarId> nest_;
};

}  // namespace

bool InductionVariable::operator<(const InductionVariable& other) const {
  if (base != other.base) return base < other.base;
  return std::ranges::lexicographical_compare(
      terms, other.terms, [](const loop::Term& a, const loop::Term& b) {
        return a.var != b.var ? a.var < b.var : a.coefficient < b.coefficient;
      });
}

InductionVariable InductionVariable::prefix(std::span<const VarId> nest, size_t depth) const {
  InductionVariable result;
  result.base = base;
  for (const loop::Term& term : terms) {
    const auto at = std::ranges::find(nest, term.var);
    if (at == nest.end() || static_cast<size_t>(at - nest.begin()) > depth) break;
    result.terms.push_back(term);
  }
  return result;
}

SplitAddress split_address(const Affine& affine, int64_t scale, std::span<const VarId> nest,
                           const Fixed& fixed) {
  SplitAddress parts;
  parts.constant = affine.offset * scale;
  for (const loop::Term& term : affine.terms) {
    if (term.var == fixed.lane) {
      parts.lane_coefficient = term.coefficient;
      parts.constant += term.coefficient * fixed.first_lane * scale;
    } else if (const auto value = fixed.values.find(term.var); value != fixed.values.end()) {
      parts.constant += term.coefficient * value->second * scale;
    }
  }
  for (VarId var : nest) {
    const int64_t coefficient = affine.coefficient(var) * scale;
    if (coefficient != 0) parts.induction.terms.push_back({var, coefficient});
  }
  return parts;
}

std::set<InductionVariable> induction_variables_of(const loop::Module& module,
                                                   const Placement& placement,
                                                   const loop::Kernel& kernel,
                                                   std::span<const Stmt> body,
                                                   std::vector<VarId> nest) {
  Collector collector(module, placement, kernel, std::move(nest));
  collector.visit(body);
  return std::move(collector.inductions);
}

}  // namespace lathe::emit_wasm
