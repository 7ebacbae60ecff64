#include <algorithm>
#include <utility>

#include "lathe/lower/blocked_sums.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/segments.h"
#include "lathe/lower/strides.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Kernel;
using loop::LoopKind;
using loop::Stmt;
using loop::VarId;

namespace {

// Independent running folds hide the latency of one.
constexpr int64_t kAccumulators = 8;

class ReduceLowering {
 public:
  ReduceLowering(Nest& nest, const Group& group, const RowSpace& space)
      : nest_(nest),
        group_(group),
        reduce_(nest.node(group.anchor())),
        kernel_(nest.kernel()),
        spatial_(space.spatial),
        reduced_(space.reduced),
        operand_(space.index) {}

  // Whether only lanes along the last spatial axis are contiguous; then the kernel is made.
  bool run() {
    const ExprId element = nest_.value_at(reduce_.operands[0], operand_);
    const auto lanes_along = [&](const std::vector<VarId>& vars) {
      return !vars.empty() && extent(vars.back()) >= kLanes &&
             stride_of(kernel_, element, vars.back()) == Stride::Contiguous;
    };
    const bool in_lanes = reduce_.dtype != loop::DType::Bool;
    const bool is_uniform = std::ranges::all_of(group_.members, [&](graph::Value member) {
      return nest_.node(member).shape == reduce_.shape;
    });
    if (!in_lanes || !is_uniform || lanes_along(reduced_) || !lanes_along(spatial_)) return false;
    reduce_lanes();
    return true;
  }

 private:
  int64_t extent(VarId var) const { return kernel_.vars[var].extent; }

  Index index_of(const std::vector<VarId>& vars) const {
    Index index;
    for (VarId var : vars) index.push_back(Affine::variable(var));
    return index;
  }

  std::vector<Stmt> around(const std::vector<VarId>& vars, std::vector<Stmt> body) const {
    for (size_t i = vars.size(); i-- > 0;) {
      std::vector<Stmt> outer;
      outer.push_back(loop::for_loop(vars[i], LoopKind::Serial, std::move(body)));
      body = std::move(outer);
    }
    return body;
  }

  ExprId identity() {
    return nest_.exprs().constant(scalar::fold_identity(reduce_.op, reduce_.dtype));
  }

  // accumulator[at] = op(accumulator[at], element with variables at `indices`)
  Stmt fold(BufferRef accumulator, const Affine& at, const BlockedSum::Indices& indices) {
    Index index = operand_;
    for (Affine& axis : index) {
      for (const auto& [var, value_of_var] : indices) axis = axis.substitute(var, value_of_var);
    }
    const ExprId element = nest_.value_at(reduce_.operands[0], index);
    const ExprId before = nest_.exprs().load(accumulator, reduce_.dtype, at);
    return loop::store(accumulator, at, nest_.exprs().apply(reduce_.op, {before, element}));
  }

  // folds of `width`, along `inner` from `position` on
  std::vector<Stmt> folded(BufferRef folds, int64_t width, VarId inner, const Affine& position) {
    const auto terms = [&](BlockedSum::Indices indices, const BlockedSum::Totals& totals) {
      const LaneLoops loops = lane_loops(kernel_, width);
      indices.push_back({inner, position + loops.element});
      return loops.around({fold(totals[0], loops.element, indices)});
    };
    std::vector<Trip> trips;
    int64_t count = 1;
    for (const VarId var : reduced_) {
      trips.push_back({var, extent(var)});
      count *= extent(var);
    }
    if (!needs_blocked_sum(reduce_, count)) return around(reduced_, terms({}, {folds}));
    return BlockedSum(nest_.exprs(), {folds}, width, kLanes, terms).around(trips);
  }

  // Lanes along the last spatial axis, each with a separate fold.
  void reduce_lanes() {
    const VarId inner = spatial_.back();
    const std::vector<VarId> outer(spatial_.begin(), spatial_.end() - 1);
    std::vector<Stmt> body;
    for (const Segment& segment : split_lanes(extent(inner), kAccumulators * kLanes, false)) {
      const StepLoop step = step_loop(kernel_, "j", segment);
      const BufferRef folds = kernel_.add_register("folds", reduce_.dtype, segment.width);
      const LaneLoops clear = lane_loops(kernel_, segment.width);
      std::vector<Stmt> tile = clear.around({loop::store(folds, clear.element, identity())});
      append(tile, folded(folds, segment.width, inner, step.position));
      const LaneLoops last = lane_loops(kernel_, segment.width);
      Index out = index_of(spatial_);
      out.back() = step.position + last.element;
      nest_.bind(group_.anchor(), nest_.exprs().load(folds, reduce_.dtype, last.element));
      const Affine lane = last.vector >= 0 ? Affine::variable(last.vector) : Affine(0);
      append(tile, last.around(nest_.store_members(group_, out, lane, last.lanes)));
      append(body, step.around(std::move(tile)));
    }
    kernel_.body = around(outer, std::move(body));
  }

  Nest& nest_;
  const Group& group_;
  const graph::Node& reduce_;
  Kernel& kernel_;
  std::vector<VarId> spatial_, reduced_;
  Index operand_;  // of the reduced tensor, by axis
};

}  // namespace

void lower_reduce(Nest& nest, const Group& group, RowSpace space) {
  if (!group.is_rows && ReduceLowering(nest, group, space).run()) return;
  lower_rows(nest, group, std::move(space));
}

}  // namespace lathe::lower::cpu
