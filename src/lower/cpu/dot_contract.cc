// Tiles of dot products: lanes along the innermost reduced dimension, one vector of running sums
// for each element of the output, whose lanes are added at the end. For operands that are
// contiguous transposed, few columns, matrices times vectors.
#include <optional>
#include <utility>

#include "lathe/lower/contraction.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/panels.h"
#include "lathe/lower/cpu/strategies.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Kernel;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kFewSums = 4;

class DotLowering {
 public:
  DotLowering(Contraction& contraction, const ContractionShape& shape, const Schedule& schedule)
      : contraction_(contraction),
        kernel_(contraction.kernel()),
        schedule_(schedule),
        depth_(contraction.reduced().back()) {
    if (shape.dot_row >= 0) row_ = contraction.spatial()[shape.dot_row];
    if (shape.dot_column >= 0) column_ = contraction.spatial()[shape.dot_column];
  }

  void run() {
    for (int operand = 0; operand < 2; ++operand) {
      if (contraction_.stride(operand, depth_) != Stride::Other) continue;
      const Tiling single = {{{0, 1, 1}, {{0, 1, 1}}}};
      panels_[operand].emplace(contraction_, operand, -1, single);
    }
    Code code;
    for (const Segment& column : steps_of(column_, schedule_.columns)) {
      const StepLoop along = step_loop(kernel_, "j", column);
      Code strip;
      for (const Segment& row : steps_of(row_, schedule_.rows)) {
        const StepLoop down = step_loop(kernel_, "i", row);
        Code one;
        one.body = tile(row.width, column.width, down.position, along.position);
        one.work = row.width * column.width * contraction_.extent(depth_);
        one.outlined = false;
        one.loop(down, row.count);
        strip.add(std::move(one));
      }
      strip.loop(along, column.count);
      code.add(std::move(strip));
    }
    for (size_t i = contraction_.spatial().size(); i-- > 0;) {
      const int d = contraction_.spatial()[i];
      if (d != row_ && d != column_) code.body = contraction_.serial(d, std::move(code.body));
    }
    kernel_.body = std::move(code.body);
  }

 private:
  std::vector<Segment> steps_of(int d, int64_t width) const {
    return d < 0 ? std::vector<Segment>{{0, 1, 1}} : split_evenly(contraction_.extent(d), width);
  }

  // The output index of one product, `row` and `column` within the tile.
  Index at(const Affine& row, const Affine& column, const Affine& depth) const {
    Index index = contraction_.index();
    if (row_ >= 0) index[row_] = row;
    if (column_ >= 0) index[column_] = column;
    index[depth_] = depth;
    return index;
  }

  ExprId operand_at(int operand, const Index& index) {
    return panels_[operand] ? panels_[operand]->at(index, Affine(0), 1, Affine(0))
                            : contraction_.operand_at(operand, index);
  }

  std::vector<Stmt> tile(int64_t rows, int64_t columns, const Affine& row_start,
                         const Affine& column_start) {
    const loop::DType dtype = contraction_.dtype();
    const int64_t extent = contraction_.extent(depth_), vectors = extent / kLanes;
    // Few sums would be a dependency chain: every unrolled step has separate ones.
    const int64_t copies = rows * columns < kFewSums ? schedule_.unroll : 1;
    const int64_t size = rows * columns * copies * kLanes;
    const BufferRef sums = kernel_.add_register("sums", dtype, size);
    const LaneLoops clear = lane_loops(kernel_, size);
    std::vector<Stmt> body = clear.around({loop::store(sums, clear.element, contraction_.zero())});

    const Tile tile{sums, rows, columns, copies, row_start, column_start};
    std::vector<Stmt> products;
    for (const Segment& segment : split(vectors, schedule_.unroll)) {
      const StepLoop steps = step_loop(kernel_, "k", segment);
      const VarId u = kernel_.add_var("u", segment.width);
      append(products, steps.around(unrolled(
                           u, multiply(tile, (steps.position + Affine::variable(u)) * kLanes,
                                       copies > 1 ? Affine::variable(u, kLanes) : Affine(0)))));
    }
    if (extent % kLanes != 0) append(products, multiply_rest(tile, vectors * kLanes));
    for (size_t i = contraction_.reduced().size() - 1; i-- > 0;) {
      products = contraction_.serial(contraction_.reduced()[i], std::move(products));
    }
    append(body, std::move(products));
    append(body, finish(tile));
    return body;
  }

  struct Tile {
    BufferRef sums;
    int64_t rows, columns, copies;
    Affine row_start, column_start;

    Affine sum(const Affine& row, const Affine& column) const {
      return (row * columns + column) * (copies * kLanes);
    }
  };

  static std::vector<Stmt> unrolled(VarId var, std::vector<Stmt> body) {
    std::vector<Stmt> loops;
    loops.push_back(loop::for_loop(var, LoopKind::Unroll, std::move(body)));
    return loops;
  }

  static std::vector<Stmt> in_lanes(VarId lane, Stmt stmt) {
    std::vector<Stmt> loops;
    std::vector<Stmt> body;
    body.push_back(std::move(stmt));
    loops.push_back(loop::for_loop(lane, LoopKind::Vector, std::move(body)));
    return loops;
  }

  // Four terms of every sum: a vector of each column, then of each row with all columns.
  std::vector<Stmt> multiply(const Tile& tile, const Affine& depth, const Affine& copy) {
    const loop::DType dtype = contraction_.dtype();
    loop::ExprBuilder& exprs = contraction_.exprs();
    const BufferRef loaded = kernel_.add_register("columns", dtype, tile.columns * kLanes);
    const BufferRef element = kernel_.add_register("element", dtype, kLanes);
    const VarId c = kernel_.add_var("c", tile.columns), r = kernel_.add_var("r", tile.rows);
    const VarId load = kernel_.add_var("v", kLanes), spread = kernel_.add_var("v", kLanes);
    const VarId v = kernel_.add_var("v", kLanes);
    const Affine column = tile.column_start + Affine::variable(c);
    const Affine row = tile.row_start + Affine::variable(r);
    std::vector<Stmt> body = unrolled(
        c, in_lanes(load, loop::store(loaded, Affine::variable(c, kLanes) + Affine::variable(load),
                                      operand_at(1, at(tile.row_start, column,
                                                       depth + Affine::variable(load))))));
    std::vector<Stmt> in_row = in_lanes(
        spread,
        loop::store(element, Affine::variable(spread),
                    operand_at(0, at(row, tile.column_start, depth + Affine::variable(spread)))));
    const Affine address =
        tile.sum(Affine::variable(r), Affine::variable(c)) + copy + Affine::variable(v);
    const ExprId sum = contraction_.mul_add(
        exprs.load(element, dtype, Affine::variable(v)),
        exprs.load(loaded, dtype, Affine::variable(c, kLanes) + Affine::variable(v)),
        exprs.load(tile.sums, dtype, address));
    append(in_row, unrolled(c, in_lanes(v, loop::store(tile.sums, address, sum))));
    append(body, unrolled(r, std::move(in_row)));
    return body;
  }

  // The terms from `done` on, fewer than the lanes: each is added to a separate lane.
  std::vector<Stmt> multiply_rest(const Tile& tile, int64_t done) {
    const VarId r = kernel_.add_var("r", tile.rows), c = kernel_.add_var("c", tile.columns);
    const VarId rest = kernel_.add_var("rest", contraction_.extent(depth_) - done);
    const Index index = at(tile.row_start + Affine::variable(r),
                           tile.column_start + Affine::variable(c), Affine::variable(rest) + done);
    const Affine address =
        tile.sum(Affine::variable(r), Affine::variable(c)) + Affine::variable(rest);
    const ExprId sum =
        contraction_.mul_add(operand_at(0, index), operand_at(1, index),
                             contraction_.exprs().load(tile.sums, contraction_.dtype(), address));
    std::vector<Stmt> stores;
    stores.push_back(loop::store(tile.sums, address, sum));
    return unrolled(rest, unrolled(r, unrolled(c, std::move(stores))));
  }

  std::vector<Stmt> finish(const Tile& tile) {
    loop::ExprBuilder& exprs = contraction_.exprs();
    const VarId r = kernel_.add_var("r", tile.rows), c = kernel_.add_var("c", tile.columns);
    const auto lane = [&](int64_t i) {
      return exprs.load(tile.sums, contraction_.dtype(),
                        tile.sum(Affine::variable(r), Affine::variable(c)) + i);
    };
    ExprId sum = -1;
    for (int64_t i = 0; i < tile.copies * kLanes; i += kLanes) {
      const ExprId four = exprs.apply(Op::Add, {exprs.apply(Op::Add, {lane(i), lane(i + 1)}),
                                                exprs.apply(Op::Add, {lane(i + 2), lane(i + 3)})});
      sum = sum < 0 ? four : exprs.apply(Op::Add, {sum, four});
    }
    const Index index = at(tile.row_start + Affine::variable(r),
                           tile.column_start + Affine::variable(c), Affine(0));
    return unrolled(r, unrolled(c, contraction_.finish(index, sum, Affine(0), 1)));
  }

  Contraction& contraction_;
  Kernel& kernel_;
  const Schedule& schedule_;
  int depth_;
  int row_ = -1, column_ = -1;
  std::optional<Panels> panels_[2];
};

}  // namespace

void dot_contract(Contraction& contraction, const ContractionShape& shape,
                  const Schedule& schedule) {
  DotLowering(contraction, shape, schedule).run();
}

}  // namespace lathe::lower::cpu
