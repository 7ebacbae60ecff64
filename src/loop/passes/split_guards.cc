#include "lathe/loop/passes/split_guards.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/passes/substitute.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

constexpr size_t kMaxParts = 5;  // of one loop: two guards that overlap

struct Span {
  int64_t begin, end;
};

class GuardSplitter {
 public:
  explicit GuardSplitter(Kernel& kernel) : kernel_(kernel) {}

  void run() {
    if (!only_copies(kernel_.body) || !has_guards()) return;
    std::vector<Stmt> result;
    for (Stmt& stmt : kernel_.body) {
      const bool loops = stmt.kind == StmtKind::For;
      append(loops ? split_body(stmt) : std::vector<Stmt>{std::move(stmt)}, result);
    }
    kernel_.body = std::move(result);
    collapse_loops(kernel_);
    drop_unreachable_exprs(kernel_);
  }

 private:
  static bool only_copies(const std::vector<Stmt>& stmts) {
    return std::ranges::all_of(stmts, [](const Stmt& stmt) {
      if (stmt.kind == StmtKind::Store) return stmt.buffer.space == Space::Global;
      return stmt.kind == StmtKind::For && stmt.loop == LoopKind::Serial && !stmt.outlined &&
             only_copies(stmt.body);
    });
  }

  bool has_guards() const {
    const Table<ExprId, bool> used = reachable(kernel_, kernel_.body);
    for (size_t id = 0; id < used.size(); ++id) {
      if (!used[id]) continue;
      for (const Guard& guard : kernel_.exprs[id].guards) {
        if (guard.index.terms.size() == 1) return true;
      }
    }
    return false;
  }

  static void append(std::vector<Stmt> from, std::vector<Stmt>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  }

  // The parts of the loop between the bounds of its guards; all of it where there are none or too
  // many.
  std::vector<Span> parts_of(const Stmt& loop) const {
    const int64_t extent = kernel_.vars[loop.var].extent;
    std::set<int64_t> bounds = {0, extent};
    const Table<ExprId, bool> used = reachable(kernel_, loop.body);
    for (size_t id = 0; id < used.size(); ++id) {
      if (!used[id]) continue;
      for (const Guard& guard : kernel_.exprs[id].guards) {
        const Affine& index = guard.index;
        if (index.terms.size() != 1 || index.terms[0] != Term{loop.var, 1}) continue;
        for (const int64_t bound : {-index.offset, guard.extent - index.offset}) {
          if (0 < bound && bound < extent) bounds.insert(bound);
        }
      }
    }
    if (bounds.size() > kMaxParts + 1) bounds = {0, extent};
    std::vector<Span> parts;
    for (auto begin = bounds.begin(); std::next(begin) != bounds.end(); ++begin) {
      parts.push_back({*begin, *std::next(begin)});
    }
    return parts;
  }

  // A loop over the part with new variables, recursively.
  std::vector<Stmt> part_of(const Stmt& loop, Span part) {
    const VarId var = kernel_.add_var(kernel_.vars[loop.var].name, part.end - part.begin);
    Affine position = Affine::variable(var);
    position.offset = part.begin;
    std::vector<Stmt> body = substitute(kernel_, loop.body, loop.var, position);
    decide_guards(body, var, part.end - part.begin);
    std::vector<Stmt> looped;
    looped.push_back(for_loop(var, LoopKind::Serial, split(body)));
    return looped;
  }

  std::vector<Stmt> split(const std::vector<Stmt>& stmts) {
    std::vector<Stmt> result;
    for (const Stmt& stmt : stmts) {
      if (stmt.kind != StmtKind::For) {
        result.push_back(stmt);
        continue;
      }
      for (const Span& part : parts_of(stmt)) append(part_of(stmt, part), result);
    }
    return result;
  }

  std::vector<Stmt> split_body(const Stmt& loop) {
    const std::vector<Span> parts = parts_of(loop);
    if (parts.size() < 2) return split({loop});
    const VarId var = kernel_.add_var(kernel_.vars[loop.var].name, kernel_.vars[loop.var].extent);
    std::vector<Stmt> body;
    for (const Span& part : parts) {
      std::vector<Stmt> inside = part_of(loop, part);
      const VarId within = inside[0].var;
      Affine at = Affine::variable(var);
      at.offset = -part.begin;
      body.push_back(if_inside({{at, part.end - part.begin}},
                               substitute(kernel_, inside[0].body, within, at)));
    }
    std::vector<Stmt> outer;
    outer.push_back(for_loop(var, LoopKind::Serial, std::move(body)));
    return outer;
  }

  // Removes guards that are always true; loads under a guard that is never true become zero.
  void decide_guards(std::vector<Stmt>& body, VarId var, int64_t extent) {
    change_exprs(kernel_, body, [&](Expr& expr) {
      bool never = false;
      const size_t erased = std::erase_if(expr.guards, [&](const Guard& guard) {
        const Affine& index = guard.index;
        if (index.terms.size() != 1 || index.terms[0] != Term{var, 1}) return false;
        never |= index.offset >= guard.extent || index.offset + extent <= 0;
        return index.offset >= 0 && index.offset + extent <= guard.extent;
      });
      if (!never) return erased > 0;
      Expr zero;
      zero.dtype = expr.dtype;
      zero.constant = Number::from(expr.dtype, 0);
      expr = std::move(zero);
      return true;
    });
  }

  Kernel& kernel_;
};

}  // namespace

void split_guards(Kernel& kernel) { GuardSplitter(kernel).run(); }

}  // namespace lathe::loop
