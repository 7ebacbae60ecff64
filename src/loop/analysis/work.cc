#include "lathe/loop/analysis/work.h"

#include <vector>

#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

// Nanoseconds of an instruction, on one element or on all lanes at once: several run at a time.
constexpr double kOperation = 0.08;
constexpr double kAccess = 0.1;
constexpr double kIteration = 0.3;
// The estimated probability of a condition that is tested for each element.
constexpr double kBranchProbability = 0.1;

// Of the statement's expressions, without nested statements.
double work_of_exprs(const Kernel& kernel, const Stmt& stmt) {
  double work = 0;
  for (const ExprId id : computed(kernel, stmt, /*rare=*/false)) {
    const Expr& expr = kernel.exprs[id];
    switch (expr.kind) {
      case ExprKind::Constant:
        break;
      case ExprKind::Load:
        if (expr.buffer.space != Space::Register) work += kAccess;
        break;
      case ExprKind::Index:
      case ExprKind::Apply:
      case ExprKind::Cast:
      case ExprKind::Reduce:
        work += kOperation;
        break;
    }
  }
  return work;
}

double work_of_loop(const Kernel& kernel, const Stmt& stmt) {
  const double body = work_of(kernel, stmt.body);
  const auto extent = static_cast<double>(kernel.vars[stmt.var].extent);
  switch (stmt.loop) {
    case LoopKind::Vector:
      return body;
    case LoopKind::Unroll:
      return extent * body;
    case LoopKind::Serial:
    case LoopKind::Grid:
    case LoopKind::Group:
    case LoopKind::Subgroup:
    case LoopKind::Parallel:
      return extent * (body + kIteration);
  }
  return body;
}

}  // namespace

double work_of(const Kernel& kernel, std::span<const Stmt> stmts) {
  double work = 0;
  for (const Stmt& stmt : stmts) {
    switch (stmt.kind) {
      case StmtKind::For:
        work += work_of_loop(kernel, stmt);
        break;
      case StmtKind::If:
        work += work_of(kernel, stmt.body);
        break;
      case StmtKind::When:
        work += work_of_exprs(kernel, stmt) + kBranchProbability * work_of(kernel, stmt.body);
        break;
      case StmtKind::Store:
        work += work_of_exprs(kernel, stmt);
        if (stmt.buffer.space != Space::Register) work += kAccess;
        break;
      case StmtKind::Barrier:
        break;
    }
  }
  return work;
}

double work_of(const Entry& entry) {
  double work = 0;
  for (const Kernel& kernel : entry.kernels) work += work_of(kernel, kernel.body);
  return work;
}

}  // namespace lathe::loop
