#include "loop/tile_products.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "loop/parallel.h"
#include "loop/rebuild.h"
#include "loop/substitute.h"

namespace lathe::loop {

namespace {

constexpr int64_t kTile = 8;      // rows, columns and steps of a tile
constexpr int64_t kShortest = 4;  // loop worth tiling

// One of the three loops, as tiles and what is inside one.
struct Axis {
  VarId var = -1;
  int64_t extent = 0;
  VarId tile = -1, inside = -1;

  Affine position(VarId within) const {
    return Affine::variable(tile, kTile) + Affine::variable(within);
  }
  // What has to be tested where the last tile is not full.
  void add_guard(VarId within, std::vector<Guard>& guards) const {
    if (extent % kTile != 0) guards.push_back({position(within), extent});
  }
};

class Tiler {
 public:
  explicit Tiler(Kernel& kernel) : kernel_(kernel), nest_(parallel_nest(kernel, kernel.body)) {}

  void run() {
    if (!matches()) return;
    const std::vector<Stmt> body = body_inside(kernel_, nest_);
    row_ = split(nest_[nest_.size() - 2], "thread");
    column_ = split(nest_.back(), "thread");
    step_ = split(body[fold_].var, "step");

    std::vector<Stmt> result(body.begin(), body.begin() + fold_);
    result.push_back(rounds(body[fold_].body));
    append_stores({body.begin() + fold_ + 1, body.end()}, result);
    result = substitute(kernel_, result, row_.var, row_.position(row_.inside));
    result = substitute(kernel_, result, column_.var, column_.position(column_.inside));
    bind(std::move(result));
    drop_unreachable_exprs(kernel_);
  }

 private:
  bool matches() {
    if (nest_.size() < 2) return false;
    const std::vector<Stmt>& body = body_inside(kernel_, nest_);
    const auto is_loop = [](const Stmt& stmt) { return stmt.kind == StmtKind::For; };
    const auto fold = std::ranges::find_if(body, is_loop);
    if (fold == body.end() || fold->loop != LoopKind::Serial) return false;
    fold_ = fold - body.begin();
    for (const VarId var : {nest_[nest_.size() - 2], nest_.back(), fold->var}) {
      if (kernel_.vars[var].extent < kShortest) return false;
    }
    const bool before_fits = std::all_of(body.begin(), fold, [&](const Stmt& stmt) {
      return sets_register(stmt) && global_loads({stmt}).empty();
    });
    const bool after_fits = std::all_of(
        fold + 1, body.end(), [](const Stmt& stmt) { return stmt.kind == StmtKind::Store; });
    const bool fold_fits = std::ranges::all_of(fold->body, sets_register);
    return before_fits && after_fits && fold_fits && find_operands(*fold);
  }

  static bool sets_register(const Stmt& stmt) {
    return stmt.kind == StmtKind::Store && stmt.buffer.space == Space::Register;
  }

  std::vector<ExprId> global_loads(const std::vector<Stmt>& stmts) const {
    std::vector<ExprId> loads;
    const std::vector<bool> used = reachable(kernel_, stmts);
    for (size_t id = 0; id < used.size(); ++id) {
      const Expr& expr = kernel_.exprs[id];
      if (used[id] && expr.kind == ExprKind::Load && expr.buffer.space == Space::Global) {
        loads.push_back(static_cast<ExprId>(id));
      }
    }
    return loads;
  }

  bool find_operands(const Stmt& fold) {
    for (const ExprId id : global_loads(fold.body)) {
      const Expr& load = kernel_.exprs[id];
      const bool by_row = moves(load, nest_[nest_.size() - 2]);
      const bool by_column = moves(load, nest_.back());
      if (!by_row && !by_column) continue;
      if (by_row == by_column || !moves(load, fold.var)) return false;
      (by_row ? row_loads_ : column_loads_).push_back(id);
    }
    return !row_loads_.empty() && !column_loads_.empty();
  }

  static bool moves(const Expr& load, VarId var) {
    return load.address.coefficient(var) != 0 ||
           std::ranges::any_of(
               load.guards, [&](const Guard& guard) { return guard.index.coefficient(var) != 0; });
  }

  Axis split(VarId var, std::string_view inside) {
    const auto [name, extent] = kernel_.vars[var];
    return {var, extent, kernel_.add_var(concat(name, ".tile"), (extent + kTile - 1) / kTile),
            kernel_.add_var(concat(name, '.', inside), kTile)};
  }

  // For each tile of k: fill, wait, fold, wait.
  Stmt rounds(const std::vector<Stmt>& fold) {
    std::vector<Stmt> round;
    std::map<ExprId, ExprId> tiled;
    const Affine place = Affine::variable(row_.inside, kTile) + Affine::variable(column_.inside);
    const auto add_tile = [&](ExprId id, const Axis& axis, VarId axis_inside, VarId step_inside,
                              const Affine& read) {
      const DType dtype = kernel_.exprs[id].dtype;
      const BufferRef tile = kernel_.add_shared("tile", dtype, kTile * kTile);
      round.push_back(store(tile, place, filling(id, axis, axis_inside, step_inside)));
      tiled[id] = ExprBuilder(kernel_).load(tile, dtype, read);
    };
    const Affine row = Affine::variable(row_.inside, kTile) + Affine::variable(step_.inside);
    const Affine column = Affine::variable(step_.inside, kTile) + Affine::variable(column_.inside);
    for (const ExprId id : row_loads_) add_tile(id, row_, row_.inside, column_.inside, row);
    for (const ExprId id : column_loads_)
      add_tile(id, column_, column_.inside, row_.inside, column);
    round.push_back(barrier());
    std::vector<Stmt> body = replaced(fold, tiled);
    body = substitute(kernel_, body, step_.var, step_.position(step_.inside));
    std::vector<Guard> guards;
    step_.add_guard(step_.inside, guards);
    if (!guards.empty()) body = alone(if_inside(std::move(guards), std::move(body)));
    round.push_back(for_loop(step_.inside, LoopKind::Serial, std::move(body)));
    round.push_back(barrier());
    return for_loop(step_.tile, LoopKind::Serial, std::move(round));
  }

  // The load for the element of the tile that this thread fills; zero outside the operand. Its own
  // guards come last, where range_of looks first.
  ExprId filling(ExprId id, const Axis& axis, VarId axis_inside, VarId step_inside) {
    const Replacement replacements[] = {{axis.var, axis.position(axis_inside)},
                                        {step_.var, step_.position(step_inside)}};
    ExprBuilder builder(kernel_);
    Expr load = kernel_.exprs[id];
    load.address = substitute(std::move(load.address), replacements);
    substitute(load.guards, replacements);
    std::vector<Guard> guards;
    axis.add_guard(axis_inside, guards);
    step_.add_guard(step_inside, guards);
    load.guards.insert(load.guards.begin(), guards.begin(), guards.end());
    return builder.add(std::move(load));
  }

  // A copy of the statements with some expressions exchanged.
  std::vector<Stmt> replaced(std::vector<Stmt> stmts, const std::map<ExprId, ExprId>& exchange) {
    const std::vector<bool> used = reachable(kernel_, stmts);
    std::vector<ExprId> renamed(used.size(), -1);
    ExprBuilder builder(kernel_);
    for (size_t id = 0; id < used.size(); ++id) {
      if (!used[id]) continue;
      const auto other = exchange.find(static_cast<ExprId>(id));
      Expr expr = kernel_.exprs[id];
      for (int i = 0; i < expr.operand_count(); ++i) expr.operands[i] = renamed[expr.operands[i]];
      renamed[id] = other != exchange.end() ? other->second : builder.add(std::move(expr));
    }
    for_each_store(stmts, [&](Stmt& stmt) { stmt.value = renamed[stmt.value]; });
    return stmts;
  }

  void append_stores(std::vector<Stmt> stores, std::vector<Stmt>& result) {
    std::vector<Guard> guards;
    row_.add_guard(row_.inside, guards);
    column_.add_guard(column_.inside, guards);
    if (!guards.empty()) stores = alone(if_inside(std::move(guards), std::move(stores)));
    for (Stmt& stmt : stores) result.push_back(std::move(stmt));
  }

  void bind(std::vector<Stmt> body) {
    body = alone(for_loop(column_.inside, LoopKind::Group, std::move(body)));
    body = alone(for_loop(row_.inside, LoopKind::Group, std::move(body)));
    body = alone(for_loop(column_.tile, LoopKind::Grid, std::move(body)));
    body = alone(for_loop(row_.tile, LoopKind::Grid, std::move(body)));
    for (size_t i = nest_.size() - 2; i-- > 0;) {
      body = alone(for_loop(nest_[i], LoopKind::Grid, std::move(body)));
    }
    kernel_.body = std::move(body);
  }

  static std::vector<Stmt> alone(Stmt stmt) {
    std::vector<Stmt> stmts;
    stmts.push_back(std::move(stmt));
    return stmts;
  }

  Kernel& kernel_;
  std::vector<VarId> nest_;
  std::ptrdiff_t fold_ = 0;  // the serial loop's place in the body
  std::vector<ExprId> row_loads_, column_loads_;
  Axis row_, column_, step_;
};

}  // namespace

void tile_products(Kernel& kernel) { Tiler(kernel).run(); }

}  // namespace lathe::loop
