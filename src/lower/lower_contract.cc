#include <algorithm>
#include <utility>

#include "lower/segments.h"
#include "lower/strategies.h"
#include "lower/strides.h"

namespace lathe::lower {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Kernel;
using loop::kLanes;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

class ContractLowering {
 public:
  ContractLowering(Nest& nest, const Group& group)
      : nest_(nest),
        group_(group),
        contract_(nest.node(group.anchor())),
        contraction_(contract_.contraction),
        kernel_(nest.kernel()) {
    for (int64_t extent : contraction_.extents) position_.push_back(kernel_.add_var("d", extent));
    for (VarId var : position_) index_.push_back(Affine::variable(var));
  }

  void run() {
    if (scatters(contract_)) return scatter();
    for (const graph::Affine& axis : contraction_.out.axes) {
      kept_.push_back(axis.single_dimension());
    }
    for (int d = 0; d < static_cast<int>(index_.size()); ++d) {
      if (std::ranges::find(kept_, d) == kept_.end()) reduced_.push_back(d);
    }
    lhs_guards_ = guards_of(contraction_.lhs, 0);
    rhs_guards_ = guards_of(contraction_.rhs, 1);
    if (nest_.context().style == Style::Lanes) {
      column_ = find_column();
      row_ = find_row();
      choose_schedule();
    }
    tile_all();
  }

 private:
  int64_t extent(int d) const { return contraction_.extents[static_cast<size_t>(d)]; }

  static Index mapped(const graph::AffineMap& map, const Index& index) {
    Index result;
    for (const graph::Affine& axis : map.axes) {
      Affine at(axis.offset);
      for (size_t d = 0; d < axis.coefficients.size(); ++d) at += index[d] * axis.coefficients[d];
      result.push_back(std::move(at));
    }
    return result;
  }

  // Axes of an operand whose index can leave it.
  std::vector<size_t> guards_of(const graph::AffineMap& map, int operand) const {
    std::vector<size_t> axes;
    const graph::Shape& shape = nest_.node(contract_.operands[static_cast<size_t>(operand)]).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      int64_t least = map.axes[axis].offset, most = least;
      for (size_t d = 0; d < map.axes[axis].coefficients.size(); ++d) {
        const int64_t reach = map.axes[axis].coefficients[d] * (extent(static_cast<int>(d)) - 1);
        (reach < 0 ? least : most) += reach;
      }
      if (least < 0 || most >= shape[axis]) axes.push_back(axis);
    }
    return axes;
  }

  ExprId operand_at(int operand, const Index& index) {
    const graph::Value value = contract_.operands[static_cast<size_t>(operand)];
    const Index at = mapped(operand == 0 ? contraction_.lhs : contraction_.rhs, index);
    std::vector<loop::Guard> guards;
    for (size_t axis : operand == 0 ? lhs_guards_ : rhs_guards_) {
      guards.push_back({at[axis], nest_.node(value).shape[axis]});
    }
    return nest_.zero_outside(nest_.value_at(value, at, guards), guards);
  }

  Stride stride(int operand, int d) {
    return stride_of(kernel_, operand_at(operand, index_), position_[static_cast<size_t>(d)]);
  }

  // The dimension of the lanes: contiguous in the output, contiguous or absent in each operand.
  int find_column() {
    if (kept_.empty() || contract_.dtype == loop::DType::Bool) return -1;
    const int last = kept_.back();
    if (extent(last) < kLanes) return -1;
    const Stride lhs = stride(0, last), rhs = stride(1, last);
    if (lhs == Stride::Other || rhs == Stride::Other) return -1;
    return last;
  }

  // The kept dimension that reuses the columns' operand.
  int find_row() {
    int best = -1;
    for (int d : kept_) {
      if (d == column_) continue;
      const bool reuses = stride(0, d) == Stride::None || stride(1, d) == Stride::None;
      if (reuses && (best < 0 || extent(d) > extent(best))) best = d;
    }
    return best;
  }

  // Elements between neighbours along `d`; 0 where the operand is no plain memory.
  int64_t operand_step(int operand, int d) {
    const loop::Expr& element = nest_.exprs()[operand_at(operand, index_)];
    return element.kind == loop::ExprKind::Load
               ? element.address.coefficient(position_[static_cast<size_t>(d)])
               : 0;
  }

  ContractionShape shape() {
    ContractionShape shape;
    shape.dtype = contract_.dtype;
    shape.in_place = reads_what_it_writes();
    const Affine out = loop::row_major(mapped(contraction_.out, index_), contract_.shape);
    const auto dimension = [&](int d) {
      return ContractionShape::Dimension{extent(d),
                                         out.coefficient(position_[static_cast<size_t>(d)]),
                                         operand_step(0, d), operand_step(1, d)};
    };
    for (int d : kept_) {
      if (d == row_) shape.row = static_cast<int>(shape.kept.size());
      if (d == column_) shape.column = static_cast<int>(shape.kept.size());
      shape.kept.push_back(dimension(d));
    }
    for (int d : reduced_) shape.reduced.push_back(dimension(d));
    return shape;
  }

  void choose_schedule() {
    EntryContext& context = nest_.context();
    ScheduledContraction chosen;
    chosen.shape = shape();
    chosen.key = contraction_key(chosen.shape);
    schedule_ = default_schedule(chosen.shape);
    if (const auto given = context.schedules.find(chosen.key); given != context.schedules.end()) {
      schedule_ = narrowed(given->second, schedule_, chosen.shape);
    }
    if (context.scheduled == nullptr) return;
    chosen.entry = context.graph.name;
    chosen.node = group_.anchor().id;
    chosen.schedule = schedule_;
    context.scheduled->push_back(std::move(chosen));
  }

  void tile_all() {
    const bool overlap = !reads_what_it_writes();
    const auto columns = column_ < 0 ? std::vector<Segment>{{0, 1, 1}}
                                     : split_lanes(extent(column_), schedule_.columns, overlap);
    const auto rows =
        row_ < 0 ? std::vector<Segment>{{0, 1, 1}} : split(extent(row_), schedule_.rows);
    std::vector<Stmt> body;
    for (const Segment& column : columns) {
      for (const Segment& row : rows) append(body, tiles(row, column));
    }
    for (size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i] == row_ || kept_[i] == column_) continue;
      body = serial(kept_[i], std::move(body));
    }
    kernel_.body = std::move(body);
  }

  // Storing a place twice would apply an in-place update twice.
  bool reads_what_it_writes() const {
    const EntryContext& context = nest_.context();
    for (graph::Value member : group_.members) {
      if (!context.fusion.stored[static_cast<size_t>(member.id)]) continue;
      const int32_t buffer = context.buffer_of[static_cast<size_t>(member.id)];
      if (context.module.buffers[static_cast<size_t>(buffer)].role == loop::BufferRole::State) {
        return true;
      }
    }
    return false;
  }

  std::vector<Stmt> serial(int d, std::vector<Stmt> body) const {
    std::vector<Stmt> looped;
    looped.push_back(
        loop::for_loop(position_[static_cast<size_t>(d)], LoopKind::Serial, std::move(body)));
    return looped;
  }

  std::vector<Stmt> tiles(const Segment& row, const Segment& column) {
    const StepLoop rows = step_loop(kernel_, "i", row);
    const StepLoop columns = step_loop(kernel_, "j", column);
    const BufferRef sums = kernel_.add_register("sums", contract_.dtype, row.width * column.width);
    std::vector<Stmt> body = clear(sums, row, column);
    append(body, multiply(sums, row, column, rows.position, columns.position));
    append(body, finish(sums, row, column, rows.position, columns.position));
    return columns.around(rows.around(std::move(body), true));
  }

  std::vector<Stmt> clear(BufferRef sums, const Segment& row, const Segment& column) {
    const LaneLoops lanes = lane_loops(kernel_, row.width * column.width);
    const ExprId zero = nest_.exprs().constant(scalar::fold_identity(Op::Add, contract_.dtype));
    return lanes.around({loop::store(sums, lanes.element, zero)});
  }

  Index tile_index(const Affine& row, const Affine& column) const {
    Index index = index_;
    if (row_ >= 0) index[static_cast<size_t>(row_)] = row;
    if (column_ >= 0) index[static_cast<size_t>(column_)] = column;
    return index;
  }

  // for reduced: load the columns' operand once, then for each row one element times all columns.
  std::vector<Stmt> multiply(BufferRef sums, const Segment& row, const Segment& column,
                             const Affine& row_start, const Affine& column_start) {
    const int wide = row_ >= 0 && stride(0, row_) == Stride::None ? 0 : 1;
    const bool narrow_moves = column_ >= 0 && stride(1 - wide, column_) != Stride::None;
    const bool vector = is_vector(column);
    const BufferRef columns = kernel_.add_register("columns", contract_.dtype, column.width);
    const BufferRef element = kernel_.add_register("element", contract_.dtype, vector ? kLanes : 1);

    const LaneLoops load = lane_loops(kernel_, column.width);
    std::vector<Stmt> body = load.around(
        {loop::store(columns, load.element,
                     operand_at(wide, tile_index(row_start, column_start + load.element)))});

    const VarId r = kernel_.add_var("r", row.width);
    const LaneLoops lanes = lane_loops(kernel_, column.width);
    const Affine row_at = row_start + Affine::variable(r);
    const Affine at = Affine::variable(r, column.width) + lanes.element;
    loop::ExprBuilder& exprs = nest_.exprs();
    ExprId factor;
    std::vector<Stmt> steps;
    if (narrow_moves) {
      factor = operand_at(1 - wide, tile_index(row_at, column_start + lanes.element));
    } else {
      Stmt spread = loop::store(element, 0, operand_at(1 - wide, tile_index(row_at, column_start)));
      Affine lane;
      if (vector) {
        const VarId v = kernel_.add_var("v", kLanes);
        spread.address = Affine::variable(v);
        spread = loop::for_loop(v, LoopKind::Vector, {std::move(spread)});
        lane = Affine::variable(lanes.vector);
      }
      steps.push_back(std::move(spread));
      factor = exprs.load(element, contract_.dtype, lane);
    }
    const ExprId product = mul_add(factor, exprs.load(columns, contract_.dtype, lanes.element),
                                   exprs.load(sums, contract_.dtype, at));
    append(steps, lanes.around({loop::store(sums, at, product)}));
    body.push_back(loop::for_loop(r, LoopKind::Unroll, std::move(steps)));
    for (size_t i = reduced_.size(); i-- > 0;) body = serial(reduced_[i], std::move(body));
    return body;
  }

  ExprId mul_add(ExprId x, ExprId y, ExprId z) {
    loop::ExprBuilder& exprs = nest_.exprs();
    if (contract_.dtype == loop::DType::F32) return exprs.apply(Op::MulAdd, {x, y, z});
    return exprs.apply(Op::Add, {exprs.apply(Op::Mul, {x, y}), z});
  }

  std::vector<Stmt> finish(BufferRef sums, const Segment& row, const Segment& column,
                           const Affine& row_start, const Affine& column_start) {
    const VarId r = kernel_.add_var("r", row.width);
    const LaneLoops lanes = lane_loops(kernel_, column.width);
    const Index index = tile_index(row_start + Affine::variable(r), column_start + lanes.element);
    nest_.bind(group_.anchor(),
               nest_.exprs().load(sums, contract_.dtype,
                                  Affine::variable(r, column.width) + lanes.element));
    const bool vector = lanes.vector >= 0;
    std::vector<Stmt> stores = lanes.around(nest_.store_members(
        group_, mapped(contraction_.out, index),
        vector ? Affine::variable(lanes.vector) : Affine(0), vector ? kLanes : 1));
    std::vector<Stmt> body;
    body.push_back(loop::for_loop(r, LoopKind::Unroll, std::move(stores)));
    return body;
  }

  // out = 0, then out[place] += product for every point of the iteration space.
  void scatter() {
    lhs_guards_ = guards_of(contraction_.lhs, 0);
    rhs_guards_ = guards_of(contraction_.rhs, 1);
    loop::ExprBuilder& exprs = nest_.exprs();
    const BufferRef out{loop::Space::Global,
                        nest_.context().buffer_of[static_cast<size_t>(group_.anchor().id)]};
    const VarId cell = kernel_.add_var("i", graph::element_count(contract_.shape));
    const ExprId zero = exprs.constant(scalar::fold_identity(Op::Add, contract_.dtype));
    kernel_.body.push_back(
        loop::for_loop(cell, LoopKind::Serial, {loop::store(out, Affine::variable(cell), zero)}));

    const Index place = mapped(contraction_.out, index_);
    Stmt inside;
    inside.kind = loop::StmtKind::If;
    for (size_t axis = 0; axis < place.size(); ++axis) {
      inside.guards.push_back({place[axis], contract_.shape[axis]});
    }
    const Affine address = loop::row_major(place, contract_.shape);
    const ExprId sum = mul_add(operand_at(0, index_), operand_at(1, index_),
                               exprs.load(out, contract_.dtype, address));
    inside.body.push_back(loop::store(out, address, sum));
    std::vector<Stmt> body;
    body.push_back(std::move(inside));
    for (size_t d = index_.size(); d-- > 0;) body = serial(static_cast<int>(d), std::move(body));
    append(kernel_.body, std::move(body));
  }

  Nest& nest_;
  const Group& group_;
  const graph::Node& contract_;
  const graph::Contraction& contraction_;
  Kernel& kernel_;
  std::vector<VarId> position_;  // loop variable of each dimension of the iteration space
  Index index_;
  std::vector<int> kept_, reduced_;
  std::vector<size_t> lhs_guards_, rhs_guards_;
  int column_ = -1, row_ = -1;
  Schedule schedule_{.rows = 1, .columns = 1};
};

}  // namespace

void lower_contract(Nest& nest, const Group& group) { ContractLowering(nest, group).run(); }

}  // namespace lathe::lower
