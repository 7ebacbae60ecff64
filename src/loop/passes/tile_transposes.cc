#include "lathe/loop/passes/tile_transposes.h"

#include <algorithm>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/loop/analysis/parallel.h"
#include "lathe/loop/passes/collapse_loops.h"
#include "lathe/loop/passes/substitute.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

// Rows and columns of the blocks that squares are visited in: a cache line of floats each way.
constexpr int64_t kBlock = 16;

class Tiler {
 public:
  Tiler(Kernel& kernel, int64_t lanes)
      : kernel_(kernel), lanes_(lanes), nest_(parallel_nest(kernel, kernel.body)) {}

  void run() {
    if (nest_.size() < 2) return;
    body_ = body_inside(kernel_, nest_);
    column_ = nest_.back();
    if (extent(column_) < lanes_ || !fits()) return;
    std::vector<Stmt> result;
    const int64_t rows = extent(row_) / lanes_ * lanes_;
    const int64_t columns = extent(column_) / lanes_ * lanes_;
    const Span full_rows{0, rows / kBlock * kBlock}, last_rows{full_rows.end, rows};
    const Span full_columns{0, columns / kBlock * kBlock}, last_columns{full_columns.end, columns};
    for (const Span& down : {full_rows, last_rows}) {
      for (const Span& along : {full_columns, last_columns}) append_blocks(down, along, result);
    }
    append_rest({rows, extent(row_)}, {0, columns}, result);
    append_rest({0, extent(row_)}, {columns, extent(column_)}, result);
    for (size_t depth = nest_.size(); depth-- > 0;) {
      if (nest_[depth] == row_ || nest_[depth] == column_) continue;
      result = around(nest_[depth], LoopKind::Serial, std::move(result));
    }
    kernel_.body = std::move(result);
    collapse_loops(kernel_);  // loops over one block
    drop_unreachable_exprs(kernel_);
  }

 private:
  struct Span {
    int64_t begin, end;
  };

  int64_t extent(VarId var) const { return kernel_.vars[var].extent; }

  static std::vector<Stmt> around(VarId var, LoopKind kind, std::vector<Stmt> body) {
    std::vector<Stmt> loop;
    loop.push_back(for_loop(var, kind, std::move(body)));
    return loop;
  }

  bool fits() {
    const bool stores_rows = std::ranges::all_of(body_, [&](const Stmt& stmt) {
      return stmt.kind == StmtKind::Store && stmt.buffer.space == Space::Global &&
             stmt.address.coefficient(column_) == 1 && !stmt.lookup;
    });
    if (!stores_rows) return false;
    const Table<ExprId, bool> used = reachable(kernel_, body_);
    std::vector<Affine> across;
    for (size_t id = 0; id < used.size(); ++id) {
      const Expr& expr = kernel_.exprs[id];
      if (!used[id] || expr.kind != ExprKind::Load) continue;
      if (expr.buffer.space != Space::Global || !expr.guards.empty() || expr.lookup) return false;
      const int64_t step = expr.address.coefficient(column_);
      if (step != 0 && step != 1) across.push_back(expr.address);
    }
    return !across.empty() && find_row(across);
  }

  bool find_row(const std::vector<Affine>& across) {
    for (const VarId var : nest_) {
      const bool contiguous = std::ranges::all_of(
          across, [&](const Affine& address) { return address.coefficient(var) == 1; });
      if (var == column_ || extent(var) < lanes_ || !contiguous) continue;
      row_ = var;
      return true;
    }
    return false;
  }

  VarId add_var(VarId of, std::string_view part, int64_t count) {
    return kernel_.add_var(concat(kernel_.vars[of].name, '.', part), count);
  }

  // The body at this row and column.
  std::vector<Stmt> body_at(const Affine& row, const Affine& column) {
    return substitute(kernel_, substitute(kernel_, body_, row_, row), column_, column);
  }

  void append_blocks(Span rows, Span columns, std::vector<Stmt>& result) {
    if (rows.begin == rows.end || columns.begin == columns.end) return;
    const Blocks down = blocks(row_, rows), along = blocks(column_, columns);
    std::vector<Stmt> body = square(down.position, along.position);
    body = around(along.square, LoopKind::Unroll, std::move(body));
    body = around(down.square, LoopKind::Serial, std::move(body));
    body = around(along.block, LoopKind::Serial, std::move(body));
    result.push_back(for_loop(down.block, LoopKind::Serial, std::move(body)));
  }

  // The loops over a span of full blocks, or of less than one.
  struct Blocks {
    VarId block, square;
    Affine position;  // where a square begins
  };

  Blocks blocks(VarId of, Span span) {
    const int64_t width = std::min(kBlock, span.end - span.begin);
    Blocks loops;
    loops.block = add_var(of, "block", (span.end - span.begin) / width);
    loops.square = add_var(of, "square", width / lanes_);
    loops.position = Affine::variable(loops.block, width) + Affine::variable(loops.square, lanes_);
    loops.position.offset = span.begin;
    return loops;
  }

  std::vector<Stmt> square(const Affine& row, const Affine& column) {
    const VarId out = add_var(row_, "row", lanes_), lane = add_var(column_, "lane", lanes_);
    std::vector<Stmt> stores =
        body_at(row + Affine::variable(out), column + Affine::variable(lane));
    std::vector<std::pair<BufferRef, Expr>> squares;
    change_exprs(kernel_, stores, [&](Expr& load) {
      const int64_t step = load.address.coefficient(lane);
      if (load.kind != ExprKind::Load || step == 0 || step == 1) return false;
      squares.emplace_back(kernel_.add_register("square", load.dtype, lanes_ * lanes_), load);
      load.buffer = squares.back().first;
      load.address = Affine::variable(out) + Affine::variable(lane, lanes_);
      return true;
    });
    std::vector<Stmt> result;
    for (auto& [square, load] : squares) {
      const VarId r = add_var(column_, "row", lanes_), v = add_var(row_, "lane", lanes_);
      load.address = load.address.substitute(lane, Affine::variable(r));
      load.address = load.address.substitute(out, Affine::variable(v));
      const Affine at = Affine::variable(r, lanes_) + Affine::variable(v);
      const ExprId element = ExprBuilder(kernel_).add(load);
      result.push_back(
          for_loop(r, LoopKind::Unroll, around(v, LoopKind::Vector, {store(square, at, element)})));
    }
    stores = around(lane, LoopKind::Vector, std::move(stores));
    result.push_back(for_loop(out, LoopKind::Unroll, std::move(stores)));
    return result;
  }

  void append_rest(Span rows, Span columns, std::vector<Stmt>& result) {
    if (rows.begin == rows.end || columns.begin == columns.end) return;
    const VarId row = add_var(row_, "rest", rows.end - rows.begin);
    const VarId column = add_var(column_, "rest", columns.end - columns.begin);
    Affine row_at = Affine::variable(row), column_at = Affine::variable(column);
    row_at.offset = rows.begin;
    column_at.offset = columns.begin;
    std::vector<Stmt> body = body_at(row_at, column_at);
    body = around(column, LoopKind::Serial, std::move(body));
    result.push_back(for_loop(row, LoopKind::Serial, std::move(body)));
  }

  Kernel& kernel_;
  const int64_t lanes_;
  const std::vector<VarId> nest_;
  std::vector<Stmt> body_;
  VarId row_ = -1, column_ = -1;
};

}  // namespace

void tile_transposes(Kernel& kernel, int64_t lanes) { Tiler(kernel, lanes).run(); }

}  // namespace lathe::loop
