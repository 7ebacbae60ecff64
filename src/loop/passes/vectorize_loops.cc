#include "lathe/loop/passes/vectorize_loops.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/loop/passes/substitute.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

constexpr int64_t kUnroll = 2;          // vectors per iteration of a cheap loop
constexpr int64_t kFewestUnrolled = 8;  // vectors; shorter loops are not unrolled
constexpr ptrdiff_t kCheapExprs = 8;    // expressions in the body of a cheap loop

// Whether every access below has the same meaning when several iterations run at once.
class LaneCheck {
 public:
  LaneCheck(const Kernel& kernel, const Stmt& loop) : kernel_(kernel), loop_(loop) {}

  // `usual`: of those used, what does not hang on a rare choice.
  bool passes(const Table<ExprId, bool>& used, const Table<ExprId, bool>& usual,
              const std::vector<bool>& private_registers) {
    private_registers_ = private_registers;
    for (const Stmt& stmt : loop_.body) {
      if (!store_fits(stmt)) return false;
    }
    for (size_t id = 0; id < used.size(); ++id) {
      if (used[id] && !expr_fits(kernel_.exprs[id], usual[id])) return false;
    }
    return true;
  }

 private:
  bool is_private(BufferRef buffer) const {
    return buffer.space == Space::Register && private_registers_[buffer.id];
  }

  bool store_fits(const Stmt& stmt) const {
    if (is_private(stmt.buffer)) return true;
    return stmt.buffer.space == Space::Global && stmt.address.coefficient(loop_.var) == 1 &&
           rests(stmt.lookup, stmt.index) && matches_stores(stmt, stmt.index);
  }

  bool rests(const Lookup& lookup, ExprId index) const {
    return !lookup || !mentions(kernel_, index, loop_.var);
  }

  bool expr_fits(const Expr& expr, bool is_usual) const {
    switch (expr.kind) {
      case ExprKind::Constant:
      case ExprKind::Index:
      case ExprKind::Cast:
        return true;
      case ExprKind::Load:
        return load_fits(expr);
      case ExprKind::Apply:
        // One shift moves all lanes by the same count.
        return !is_usual || scalar::info(expr.op).signature != scalar::Signature::Shift ||
               kernel_.exprs[expr.operands[1]].kind == ExprKind::Constant;
      case ExprKind::Reduce:
        return false;
    }
    return false;
  }

  bool load_fits(const Expr& expr) const {
    if (is_private(expr.buffer)) return true;
    const int64_t step = expr.address.coefficient(loop_.var);
    if (step != 0 && (step != 1 || expr.buffer.space == Space::Register)) return false;
    for (const Guard& guard : expr.guards) {
      if (guard.index.coefficient(loop_.var) != 0) return false;
    }
    return rests(expr.lookup, expr.operands[0]) && matches_stores(expr, expr.operands[0]);
  }

  template <class Access>
  bool matches_stores(const Access& access, ExprId index) const {
    return std::all_of(loop_.body.begin(), loop_.body.end(), [&](const Stmt& stmt) {
      return stmt.buffer != access.buffer ||
             (stmt.address == access.address && stmt.lookup == access.lookup &&
              (!stmt.lookup || stmt.index == index));
    });
  }

  const Kernel& kernel_;
  const Stmt& loop_;
  Table<BufferId, bool> private_registers_;
};

class Vectorizer {
 public:
  Vectorizer(Kernel& kernel, int64_t lanes) : kernel_(kernel), lanes_(lanes) {}

  void run() {
    find_owners(nullptr, kernel_.body);
    vectorize(kernel_.body);
    if (changed_) drop_unreachable_exprs(kernel_);
  }

 private:
  void vectorize(std::vector<Stmt>& stmts) {
    std::vector<Stmt> result;
    for (Stmt& stmt : stmts) {
      if (is_candidate(stmt)) {
        const Table<ExprId, bool> used = reachable(kernel_, stmt.body);
        const Table<ExprId, bool> usual = reachable(kernel_, stmt.body, /*rare=*/false);
        const std::vector<bool> private_registers = find_private_registers(stmt);
        if (LaneCheck(kernel_, stmt).passes(used, usual, private_registers)) {
          const bool cheap = std::count(usual.begin(), usual.end(), true) <= kCheapExprs;
          widen(private_registers);
          split(stmt, cheap, result);
          changed_ = true;
          continue;
        }
      }
      vectorize(stmt.body);
      result.push_back(std::move(stmt));
    }
    stmts = std::move(result);
  }

  bool is_candidate(const Stmt& stmt) const {
    return stmt.kind == StmtKind::For && stmt.loop == LoopKind::Serial && !stmt.outlined &&
           kernel_.vars[stmt.var].extent >= lanes_ &&
           std::all_of(stmt.body.begin(), stmt.body.end(),
                       [](const Stmt& inner) { return inner.kind == StmtKind::Store; });
  }

  void find_owners(const Stmt* parent, const std::vector<Stmt>& stmts) {
    const auto note = [&](BufferRef buffer) {
      if (buffer.space != Space::Register) return;
      const auto [owner, fresh] = owners_.try_emplace(buffer.id, parent);
      if (!fresh && owner->second != parent) owner->second = nullptr;
    };
    for (const Stmt& stmt : stmts) {
      find_owners(&stmt, stmt.body);
      if (stmt.kind == StmtKind::Store) note(stmt.buffer);
      visit_loads(stmt, [&](const Expr& load) { note(load.buffer); });
    }
  }

  // Per register: whether it has one value from a store to the last load of the same iteration,
  // so that it may be private to each lane.
  Table<BufferId, bool> find_private_registers(const Stmt& loop) const {
    Table<BufferId, bool> is_private_register(kernel_.registers.size()),
        read_early(is_private_register.size());
    for (const Stmt& stmt : loop.body) {
      visit_loads(stmt, [&](const Expr& load) {
        if (load.buffer.space == Space::Register && !is_private_register[load.buffer.id]) {
          read_early[load.buffer.id] = true;
        }
      });
      if (stmt.buffer.space != Space::Register) continue;
      const int32_t id = stmt.buffer.id;
      is_private_register[id] =
          !read_early[id] && owners_.at(id) == &loop && kernel_.registers[id].size == 1;
    }
    return is_private_register;
  }

  template <class Visit>
  void visit_loads(const Stmt& stmt, const Visit& visit) const {
    for (const ExprId id : computed(kernel_, stmt)) {
      if (kernel_.exprs[id].kind == ExprKind::Load) visit(kernel_.exprs[id]);
    }
  }

  // Appends the loops that replace `loop`: blocks of one or two vectors, one more vector where it
  // fits, single iterations.
  void split(const Stmt& loop, bool cheap, std::vector<Stmt>& result) {
    const int64_t extent = kernel_.vars[loop.var].extent;
    int64_t done = 0;
    if (cheap && extent / lanes_ >= kFewestUnrolled) {
      const int64_t step = kUnroll * lanes_;
      const VarId block = add_var(loop, "block", extent / step);
      const VarId vector = add_var(loop, "vector", kUnroll);
      Affine base = Affine::variable(block, step) + Affine::variable(vector, lanes_);
      result.push_back(
          for_loop(block, LoopKind::Serial,
                   {for_loop(vector, LoopKind::Unroll, {lanes(loop, std::move(base))})}));
      done = extent / step * step;
    }
    if (const int64_t vectors = (extent - done) / lanes_; vectors == 1) {
      result.push_back(lanes(loop, done));
    } else if (vectors > 1) {
      const VarId block = add_var(loop, "block", vectors);
      result.push_back(
          for_loop(block, LoopKind::Serial, {lanes(loop, Affine::variable(block, lanes_))}));
    }
    append_rest(loop, extent % lanes_, result);
  }

  Stmt lanes(const Stmt& loop, Affine base) {
    const VarId lane = add_var(loop, "lane", lanes_);
    base += Affine::variable(lane);
    std::vector<Stmt> body = substitute(kernel_, loop.body, loop.var, base);
    const auto move = [&](BufferRef& buffer, Affine& address) {
      const auto wide = wide_.find(buffer.id);
      if (buffer.space != Space::Register || wide == wide_.end()) return false;
      buffer = wide->second;
      address = Affine::variable(lane);
      return true;
    };
    if (!wide_.empty()) {
      change_exprs(kernel_, body, [&](Expr& expr) { return move(expr.buffer, expr.address); });
    }
    for (Stmt& store : body) move(store.buffer, store.address);
    return for_loop(lane, LoopKind::Vector, std::move(body));
  }

  void widen(const std::vector<bool>& private_registers) {
    wide_.clear();
    for (int32_t id = 0; id < static_cast<int32_t>(private_registers.size()); ++id) {
      if (!private_registers[id]) continue;
      const Buffer narrow = kernel_.registers[id];
      wide_[id] = kernel_.add_register(concat(narrow.name, ".lanes"), narrow.dtype, lanes_);
    }
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
  const int64_t lanes_;
  std::map<int32_t, const Stmt*>
      owners_;  // of each register the loop right around every use, or null
  std::map<int32_t, BufferRef>
      wide_;  // the copy with lanes of each private register of the current loop
  bool changed_ = false;
};

}  // namespace

void vectorize_loops(Kernel& kernel, int64_t lanes) { Vectorizer(kernel, lanes).run(); }

}  // namespace lathe::loop
