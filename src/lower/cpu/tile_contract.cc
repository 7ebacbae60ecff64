// Register tiles: rows x columns of the output are in registers while the reduced dimensions run,
// lanes along the columns; each step loads the columns' operand once and multiplies it by one
// element for each row.
#include <algorithm>
#include <optional>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/lower/contraction.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/panels.h"
#include "lathe/lower/cpu/strategies.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Guard;
using loop::Kernel;
using loop::LoopKind;
using loop::Stmt;

namespace {

constexpr int64_t kTallRows = 8;
constexpr int64_t kLongStream = 4096;  // elements: a few pages

// Columns of a tile, `width` in all: several pieces are at a distance from each other, as large as
// all steps reach.
struct Columns : Segment {
  int64_t pieces = 1;

  int64_t piece() const { return width / pieces; }
  Segment steps() const { return {begin, count, piece()}; }
  Segment panels() const { return {begin, count * pieces, piece(), shift}; }
};

// Vectors of a tile: their index in registers and, from the tile's start, in memory; in which
// panel from that of the start, and where there.
struct Run {
  LaneLoops loops;
  Affine in_register, in_memory;
  int64_t panel;
  Affine in_panel;
};

class TileLowering {
 public:
  TileLowering(Contraction& contraction, const ContractionShape& shape, const Schedule& schedule)
      : contraction_(contraction),
        kernel_(contraction.kernel()),
        schedule_(schedule),
        row_(shape.row < 0 ? -1 : contraction.spatial()[shape.row]),
        column_(shape.column < 0 ? -1 : contraction.spatial()[shape.column]),
        wide_(shape.wide),
        narrow_moves_(shape.narrow_moves),
        streamed_(shape.rows() == 1 && shape.wide_constant ? shape.depth() : 0),
        overwrites_(contraction.overwrites()) {}

  void run() {
    columns_ = {{0, 1, 1}};
    rows_ = {{0, 1, 1}};
    if (column_ >= 0) columns_ = blocks(column_, schedule_.block_columns);
    if (row_ >= 0) rows_ = blocks(row_, schedule_.block_rows);
    depths_ = {{0, 1, depth_dimension() < 0 ? 1 : contraction_.extent(depth_dimension())}};
    if (contraction_.reduced().size() == 1) split_depth();
    if (schedule_.pack_columns == 2) {
      wide_panels_.emplace(contraction_, wide_, column_,
                           tiling(columns_, [&](int64_t width) { return column_panels(width); }),
                           /*in_lanes=*/true);
    }
    if (schedule_.pack_rows == 2) {
      narrow_panels_.emplace(contraction_, 1 - wide_, row_, tiling(rows_, [&](int64_t width) {
                               return split_evenly(width, schedule_.rows);
                             }));
    }
    Code code;
    for (const Segment& column : columns_) {
      for (const Segment& row : rows_) code.add(block(row, column));
    }
    for (size_t i = contraction_.spatial().size(); i-- > 0;) {
      const int d = contraction_.spatial()[i];
      if (d != row_ && d != column_) code.body = contraction_.serial(d, std::move(code.body));
    }
    kernel_.body = std::move(code.body);
  }

 private:
  // One register tile.
  struct Tile {
    Segment row;
    Columns column;
    Affine row_start, column_start;
    int64_t elements() const { return row.width * column.width; }
  };
  // A stretch of the reduced dimension: `number` of all stretches it is one of.
  struct Stretch {
    Segment segment;
    Affine start, number;
    int64_t of = 1;
    bool first = true, last = true;  // surely
  };

  int depth_dimension() const {
    return contraction_.reduced().empty() ? -1 : contraction_.reduced().back();
  }

  std::vector<Segment> blocks(int d, int64_t width) const {
    const int64_t extent = contraction_.extent(d);
    return split(extent, std::clamp<int64_t>(width, 1, std::max<int64_t>(extent, 1)));
  }

  void split_depth() {
    const int64_t depth = contraction_.extent(depth_dimension());
    const bool streams = contraction_.dtype() == loop::DType::F32 || contraction_.is_paired();
    if (schedule_.block_depth >= depth || !streams) return;
    depths_ = split(depth, schedule_.block_depth);
    int64_t size = 1;
    for (int d : contraction_.spatial()) {
      const int64_t extent = contraction_.extent(d);
      size *= d == column_ ? (extent + kLanes - 1) / kLanes * kLanes : extent;
    }
    EntryContext& context = contraction_.context();
    const std::string name = concat(context.graph.name, ".sums", contraction_.group().anchor().id);
    partial_ = {loop::Space::Global,
                context.add_buffer(name, contraction_.dtype(), size, loop::BufferRole::Temporary)};
    kernel_.reread(partial_);
  }

  bool is_blocked() const { return partial_.id >= 0; }

  // Of a large constant that one row reads, from several addresses at once: a prefetcher follows
  // each, and reads more of memory from a few long streams than from one or from short ones.
  std::vector<Columns> column_tiles(int64_t width) const {
    std::vector<Columns> tiles;
    const Columns streams{{0, width / schedule_.columns, schedule_.columns}, kStreams};
    int64_t done = 0;
    if (schedule_.pack_columns == 2 && !is_blocked() && streams.piece() % kLanes == 0 &&
        streams.count * streams.piece() * streamed_ >= kLongStream) {
      tiles.push_back(streams);
      done = streams.count * streams.width;
    }
    for (Segment each : split_vectors(width - done, schedule_.columns)) {
      each.begin += done;
      tiles.push_back({each});
    }
    return tiles;
  }

  std::vector<Segment> column_panels(int64_t width) const {
    std::vector<Segment> panels;
    for (const Columns& each : column_tiles(width)) panels.push_back(each.panels());
    return panels;
  }

  // Narrow tiles are tall: the number of accumulators hides the latency of each.
  std::vector<Segment> row_tiles(int64_t rows, const Columns& column) const {
    int64_t height = schedule_.rows;
    if (!narrow_panels_ && !is_blocked() && column.width < schedule_.columns) {
      height = std::max(height, std::min(kTallRows, height * schedule_.columns / column.width));
    }
    return split_evenly(rows, height);
  }

  template <class Tiles>
  static Tiling tiling(const std::vector<Segment>& blocks, const Tiles& tiles) {
    Tiling tiling;
    for (const Segment& block : blocks) tiling.push_back({block, tiles(block.width)});
    return tiling;
  }

  Code block(const Segment& row, const Segment& column) {
    const StepLoop columns = step_loop(kernel_, "column", column);
    const StepLoop rows = step_loop(kernel_, "row", row);
    Code code;
    Stretch stretch;
    for (const Segment& depth : depths_) stretch.of += depth.count;
    stretch.of -= 1;
    int64_t done = 0;
    for (const Segment& depth : depths_) {
      const StepLoop steps = step_loop(kernel_, "depth", depth);
      stretch.segment = depth;
      stretch.start = steps.position;
      stretch.number = Affine(done);
      if (steps.var >= 0) stretch.number += Affine::variable(steps.var);
      stretch.first = done == 0 && depth.count == 1;
      done += depth.count;
      stretch.last = done == stretch.of && depth.count == 1;
      Code part = tiles(row.width, column.width, rows.position, columns.position, stretch);
      part.loop(steps, depth.count);
      code.add(std::move(part));
    }
    code.loop(rows, row.count);
    code.loop(columns, column.count);
    return code;
  }

  Code tiles(int64_t rows, int64_t columns, const Affine& row_block, const Affine& column_block,
             const Stretch& depth) {
    Code all;
    const auto column_segments =
        column_ < 0 ? std::vector<Columns>{{{0, 1, 1}}} : column_tiles(columns);
    for (const Columns& column : column_segments) {
      const StepLoop along = step_loop(kernel_, "j", column.steps());
      Code strip;
      for (const Segment& row : row_tiles(rows, column)) {
        const StepLoop down = step_loop(kernel_, "i", row);
        Code one;
        one.body =
            tile({row, column, row_block + down.position, column_block + along.position}, depth);
        one.work = row.width * column.width * depth.segment.width * outer_depth();
        one.outlined = false;
        // Rows inside columns read the columns' operand from the nearest cache. Where both operands
        // move with the columns neither does, and walking along them walks memory in order.
        if (narrow_moves_) one.loop(along, column.count);
        one.loop(down, row.count);
        strip.add(std::move(one));
      }
      if (!narrow_moves_) strip.loop(along, column.count);
      all.add(std::move(strip));
    }
    return all;
  }

  int64_t outer_depth() const {
    int64_t steps = 1;
    for (int d : contraction_.reduced()) {
      if (d != depth_dimension()) steps *= contraction_.extent(d);
    }
    return steps;
  }

  std::vector<Stmt> tile(const Tile& tile, const Stretch& depth) {
    const BufferRef sums = kernel_.add_register("sums", contraction_.dtype(), tile.elements());
    std::vector<Stmt> body = start(sums, tile, depth);
    append(body, multiply(sums, tile, depth));
    if (!is_blocked() || depth.last) {
      append(body, finish(sums, tile));
    } else {
      std::vector<Stmt> ends = finish(sums, tile);
      const Guard last{depth.number + Affine(1 - depth.of), 1};
      const Guard not_last{depth.number, depth.of - 1};
      body.push_back(loop::if_inside({not_last}, store_partial(sums, tile)));
      body.push_back(loop::if_inside({last}, std::move(ends)));
    }
    return body;
  }

  // The partial sums of each tile are contiguous, disjoint from those of tiles that overlap it.
  Affine partial_address(const Tile& tile) const {
    const int64_t columns =
        column_ < 0 ? 1 : (contraction_.extent(column_) + kLanes - 1) / kLanes * kLanes;
    Affine address = tile.row_start * columns + tile.column_start * tile.row.width;
    int64_t step = columns * (row_ < 0 ? 1 : contraction_.extent(row_));
    for (size_t i = contraction_.spatial().size(); i-- > 0;) {
      const int d = contraction_.spatial()[i];
      if (d == row_ || d == column_) continue;
      address += contraction_.index()[d] * step;
      step *= contraction_.extent(d);
    }
    return address;
  }

  std::vector<Stmt> start(BufferRef sums, const Tile& tile, const Stretch& depth) {
    const auto fill = [&](const auto& value_at) {
      const LaneLoops lanes = lane_loops(kernel_, tile.elements());
      return lanes.around({loop::store(sums, lanes.element, value_at(lanes.element))});
    };
    std::vector<Stmt> zeros = fill([&](const Affine&) { return contraction_.zero(); });
    if (!is_blocked() || depth.first) return zeros;
    std::vector<Stmt> partial = fill([&](const Affine& element) {
      return contraction_.exprs().load(partial_, contraction_.dtype(),
                                       partial_address(tile) + element);
    });
    // One test for all vectors.
    std::vector<Stmt> body;
    body.push_back(loop::if_inside({{depth.number, 1}}, std::move(zeros)));
    body.push_back(
        loop::if_inside({{depth.number + Affine(-1), depth.of - 1}}, std::move(partial)));
    return body;
  }

  std::vector<Stmt> store_partial(BufferRef sums, const Tile& tile) {
    const LaneLoops lanes = lane_loops(kernel_, tile.elements());
    return lanes.around(
        {loop::store(partial_, partial_address(tile) + lanes.element,
                     contraction_.exprs().load(sums, contraction_.dtype(), lanes.element))});
  }

  // As in registers and panels, without overlap.
  std::vector<Run> full_runs(const Columns& column) {
    std::vector<Run> runs;
    for (int64_t i = 0; i < column.pieces; ++i) {
      const LaneLoops loops = wide_panels_ ? wide_panels_->lanes(kernel_, column.panels())
                                           : lane_loops(kernel_, column.width);
      const int64_t distance = i * column.count * column.piece();
      runs.push_back({loops, loops.element + i * column.piece(), loops.element + distance, distance,
                      loops.memory_index()});
    }
    return runs;
  }

  std::vector<Run> runs(const Columns& column) {
    if (column.shift == 0) return full_runs(column);
    std::vector<Run> runs;
    const int64_t last = column.width - kLanes;
    if (last > 0) {
      const LaneLoops loops = lane_loops(kernel_, last);
      runs.push_back({loops, loops.element, loops.element, 0, loops.element});
    }
    const LaneLoops loops = lane_loops(kernel_, kLanes);
    const Affine at = loops.element + last;
    runs.push_back({loops, at, at + (-column.shift), 0, at});
    return runs;
  }

  static Index with(Index index, int d, const Affine& at) {
    if (d >= 0) index[d] = at;
    return index;
  }

  std::vector<Stmt> multiply(BufferRef sums, const Tile& tile, const Stretch& depth) {
    const int innermost = depth_dimension();
    const BufferRef columns =
        kernel_.add_register("columns", contraction_.dtype(), tile.column.width);
    const BufferRef element =
        kernel_.add_register("element", contraction_.dtype(), column_ >= 0 ? kLanes : 1);
    std::vector<Stmt> body;
    if (innermost < 0) return step(sums, columns, element, tile, contraction_.index());
    for (const Segment& segment : split(depth.segment.width, schedule_.unroll)) {
      const StepLoop steps = step_loop(kernel_, "k", segment);
      const loop::VarId u = segment.width == 1 ? -1 : kernel_.add_var("u", segment.width);
      Affine at = depth.start + steps.position;
      if (u >= 0) at += Affine::variable(u);
      std::vector<Stmt> part =
          step(sums, columns, element, tile, with(contraction_.index(), innermost, at));
      if (u >= 0) {
        Stmt unrolled = loop::for_loop(u, LoopKind::Unroll, std::move(part));
        part.clear();
        part.push_back(std::move(unrolled));
      }
      append(body, steps.around(std::move(part)));
    }
    if (body.empty()) return body;
    for (size_t i = contraction_.reduced().size() - 1; i-- > 0;) {
      body = contraction_.serial(contraction_.reduced()[i], std::move(body));
    }
    return body;
  }

  std::vector<Run> wide_runs(const Tile& tile) {
    return wide_panels_ ? full_runs(tile.column) : runs(tile.column);
  }

  ExprId wide_at(const Index& index, const Tile& tile, const Run& run) {
    if (wide_panels_) {
      return wide_panels_->at(index, tile.column_start + run.panel, tile.column.piece(),
                              run.in_panel);
    }
    return contraction_.operand_at(
        wide_, with(with(index, row_, tile.row_start), column_, tile.column_start + run.in_memory));
  }

  // Loads the columns' operand once (straight into the product where there is one row), then for
  // each row one element times all columns.
  std::vector<Stmt> step(BufferRef sums, BufferRef columns, BufferRef element, const Tile& tile,
                         const Index& index) {
    loop::ExprBuilder& exprs = contraction_.exprs();
    const loop::DType dtype = contraction_.dtype();
    const bool in_registers = tile.row.width > 1;
    std::vector<Stmt> body;
    for (const Run& run : in_registers ? wide_runs(tile) : std::vector<Run>()) {
      append(body,
             run.loops.around({loop::store(columns, run.in_register, wide_at(index, tile, run))}));
    }
    const loop::VarId r = kernel_.add_var("r", tile.row.width);
    const Affine row = Affine::variable(r);
    const Index in_row = with(index, row_, tile.row_start + row);
    std::vector<Stmt> steps;
    const auto multiply = [&](const Run& run, ExprId factor) {
      const Affine at = row * tile.column.width + run.in_register;
      const ExprId column =
          in_registers ? exprs.load(columns, dtype, run.in_register) : wide_at(index, tile, run);
      const ExprId sum = contraction_.mul_add(factor, column, exprs.load(sums, dtype, at));
      append(steps, run.loops.around({loop::store(sums, at, sum)}));
    };
    if (narrow_moves_) {
      for (const Run& run : runs(tile.column)) {
        multiply(run, contraction_.operand_at(
                          1 - wide_, with(in_row, column_, tile.column_start + run.in_memory)));
      }
    } else {
      const ExprId one = narrow_panels_
                             ? narrow_panels_->at(index, tile.row_start, tile.row.width, row)
                             : contraction_.operand_at(1 - wide_, with(in_row, column_, Affine(0)));
      const LaneLoops spread = lane_loops(kernel_, column_ >= 0 ? kLanes : 1);
      append(steps, spread.around({loop::store(element, spread.element, one)}));
      for (const Run& run : in_registers ? full_runs(tile.column) : wide_runs(tile)) {
        const Affine lane = run.loops.vector >= 0 ? Affine::variable(run.loops.vector) : Affine(0);
        multiply(run, exprs.load(element, dtype, lane));
      }
    }
    body.push_back(loop::for_loop(r, LoopKind::Unroll, std::move(steps)));
    return body;
  }

  std::vector<Stmt> finish(BufferRef sums, const Tile& tile) {
    const loop::VarId r = kernel_.add_var("r", tile.row.width);
    std::vector<Stmt> stores;
    for (const Run& run : runs(tile.column)) {
      append(stores, store_run(sums, tile, run, Affine::variable(r)));
    }
    std::vector<Stmt> body;
    body.push_back(loop::for_loop(r, LoopKind::Unroll, std::move(stores)));
    return body;
  }

  std::vector<Stmt> store_run(BufferRef sums, const Tile& tile, Run run, const Affine& row) {
    const bool overlaps = tile.column.shift != 0 && run.in_register != run.in_memory;
    if (overlaps && overwrites_) {
      // Only elements that the previous vector does not contain.
      const Segment& column = tile.column;
      run.loops = lane_loops(kernel_, 1);
      if (const int64_t fresh = kLanes - column.shift; fresh > 1) {
        run.loops.unroll = kernel_.add_var("u", fresh);
        run.loops.element = Affine::variable(run.loops.unroll);
      }
      run.in_register = run.loops.element + (column.width - fresh_of(column));
      run.in_memory = run.in_register + (-column.shift);
    }
    const bool vector = run.loops.vector >= 0;
    const Index index = with(with(contraction_.index(), row_, tile.row_start + row), column_,
                             tile.column_start + run.in_memory);
    const ExprId sum = contraction_.exprs().load(sums, contraction_.dtype(),
                                                 row * tile.column.width + run.in_register);
    return run.loops.around(contraction_.finish(
        index, sum, vector ? Affine::variable(run.loops.vector) : Affine(0), vector ? kLanes : 1));
  }

  static int64_t fresh_of(const Segment& column) { return kLanes - column.shift; }

  Contraction& contraction_;
  Kernel& kernel_;
  const Schedule& schedule_;
  int row_, column_;
  int wide_;           // the operand that moves with the columns and not with the rows
  bool narrow_moves_;  // the other moves with the columns, too
  int64_t streamed_;   // what one row reads of each column of a constant
  bool overwrites_;
  std::vector<Segment> rows_, columns_, depths_;  // blocks
  std::optional<Panels> wide_panels_, narrow_panels_;
  BufferRef partial_;  // sums of the stretches so far, where the depth is blocked
};

}  // namespace

void tile_contract(Contraction& contraction, const ContractionShape& shape,
                   const Schedule& schedule) {
  TileLowering(contraction, shape, schedule).run();
}

}  // namespace lathe::lower::cpu
