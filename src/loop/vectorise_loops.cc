#include "loop/vectorise_loops.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "loop/rebuild.h"
#include "loop/substitute.h"

namespace lathe::loop {

namespace {

constexpr int64_t kUnroll = 2;          // vectors per iteration of a cheap loop
constexpr int64_t kFewestUnrolled = 8;  // vectors; shorter loops are not unrolled
constexpr ptrdiff_t kCheapExprs = 8;    // expressions in the body of a cheap loop

// Whether every access below keeps its meaning when four iterations run at once.
class LaneCheck {
 public:
  LaneCheck(const Kernel& kernel, const Stmt& loop) : kernel_(kernel), loop_(loop) {}

  bool passes(const std::vector<bool>& used) {
    for (const Stmt& stmt : loop_.body) {
      if (!store_fits(stmt)) return false;
    }
    for (size_t id = 0; id < used.size(); ++id) {
      if (used[id] && !expr_fits(kernel_.exprs[id])) return false;
    }
    return true;
  }

 private:
  bool store_fits(const Stmt& stmt) const {
    return stmt.buffer.space == Space::Global && stmt.address.coefficient(loop_.var) == 1 &&
           matches_stores(stmt.buffer, stmt.address);
  }

  bool expr_fits(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::Constant:
      case ExprKind::Index:
      case ExprKind::Cast:
        return true;
      case ExprKind::Load:
        return load_fits(expr);
      case ExprKind::Apply:
        // One shift moves all lanes by the same count.
        return (expr.op != Op::ShiftLeft && expr.op != Op::ShiftRight) ||
               kernel_.exprs[expr.operands[1]].kind == ExprKind::Constant;
    }
    return false;
  }

  bool load_fits(const Expr& expr) const {
    const int64_t step = expr.address.coefficient(loop_.var);
    if (step != 0 && (step != 1 || expr.buffer.space == Space::Register)) return false;
    for (const Guard& guard : expr.guards) {
      if (guard.index.coefficient(loop_.var) != 0) return false;
    }
    return matches_stores(expr.buffer, expr.address);
  }

  bool matches_stores(BufferRef buffer, const Affine& address) const {
    return std::all_of(loop_.body.begin(), loop_.body.end(), [&](const Stmt& stmt) {
      return stmt.buffer != buffer || stmt.address == address;
    });
  }

  const Kernel& kernel_;
  const Stmt& loop_;
};

class Vectoriser {
 public:
  explicit Vectoriser(Kernel& kernel) : kernel_(kernel) {}

  void run() {
    vectorise(kernel_.body);
    if (changed_) drop_unreachable_exprs(kernel_);
  }

 private:
  void vectorise(std::vector<Stmt>& stmts) {
    std::vector<Stmt> result;
    for (Stmt& stmt : stmts) {
      if (is_candidate(stmt)) {
        const std::vector<bool> used = reachable(kernel_, stmt.body);
        if (LaneCheck(kernel_, stmt).passes(used)) {
          const bool cheap = std::count(used.begin(), used.end(), true) <= kCheapExprs;
          split(stmt, cheap, result);
          changed_ = true;
          continue;
        }
      }
      vectorise(stmt.body);
      result.push_back(std::move(stmt));
    }
    stmts = std::move(result);
  }

  bool is_candidate(const Stmt& stmt) const {
    return stmt.kind == StmtKind::For && stmt.loop == LoopKind::Serial && !stmt.outlined &&
           kernel_.vars[stmt.var].extent >= kLanes &&
           std::all_of(stmt.body.begin(), stmt.body.end(),
                       [](const Stmt& inner) { return inner.kind == StmtKind::Store; });
  }

  // Appends the loops that replace `loop`: blocks of one or two vectors, one more vector where it
  // fits, single iterations.
  void split(const Stmt& loop, bool cheap, std::vector<Stmt>& result) {
    const int64_t extent = kernel_.vars[loop.var].extent;
    int64_t done = 0;
    if (cheap && extent / kLanes >= kFewestUnrolled) {
      const int64_t step = kUnroll * kLanes;
      const VarId block = add_var(loop, "block", extent / step);
      const VarId vector = add_var(loop, "vector", kUnroll);
      Affine base = Affine::variable(block, step) + Affine::variable(vector, kLanes);
      result.push_back(
          for_loop(block, LoopKind::Serial,
                   {for_loop(vector, LoopKind::Unroll, {lanes(loop, std::move(base))})}));
      done = extent / step * step;
    }
    if (const int64_t vectors = (extent - done) / kLanes; vectors == 1) {
      result.push_back(lanes(loop, done));
    } else if (vectors > 1) {
      const VarId block = add_var(loop, "block", vectors);
      result.push_back(
          for_loop(block, LoopKind::Serial, {lanes(loop, Affine::variable(block, kLanes))}));
    }
    append_rest(loop, extent % kLanes, result);
  }

  Stmt lanes(const Stmt& loop, Affine base) {
    const VarId lane = add_var(loop, "lane", kLanes);
    base += Affine::variable(lane);
    return for_loop(lane, LoopKind::Vector, substitute(kernel_, loop.body, loop.var, base));
  }

  void append_rest(const Stmt& loop, int64_t rest, std::vector<Stmt>& result) {
    if (rest == 0) return;
    Affine base(kernel_.vars[loop.var].extent - rest);
    if (rest == 1) {
      std::vector<Stmt> last = substitute(kernel_, loop.body, loop.var, base);
      std::move(last.begin(), last.end(), std::back_inserter(result));
      return;
    }
    const VarId var = add_var(loop, "rest", rest);
    base += Affine::variable(var);
    result.push_back(
        for_loop(var, LoopKind::Serial, substitute(kernel_, loop.body, loop.var, base)));
  }

  VarId add_var(const Stmt& loop, std::string_view part, int64_t extent) {
    return kernel_.add_var(concat(kernel_.vars[loop.var].name, '.', part), extent);
  }

  Kernel& kernel_;
  bool changed_ = false;
};

}  // namespace

void vectorise_loops(Kernel& kernel) { Vectoriser(kernel).run(); }

}  // namespace lathe::loop
