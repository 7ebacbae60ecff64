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
using loop::Stmt;
using loop::VarId;

namespace {

// Independent running folds hide the latency of one.
constexpr int64_t kAccumulators = 4;

class ReduceLowering {
 public:
  ReduceLowering(Nest& nest, const Group& group)
      : nest_(nest), group_(group), reduce_(nest.node(group.anchor())), kernel_(nest.kernel()) {
    const graph::Shape& from = nest.node(reduce_.operands[0]).shape;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      const VarId var = kernel_.add_var("i", from[axis]);
      const bool reduced =
          std::ranges::find(reduce_.axes, static_cast<int>(axis)) != reduce_.axes.end();
      (reduced ? reduced_ : kept_).push_back(var);
      operand_.push_back(Affine::variable(var));
    }
  }

  void run() {
    const ExprId element = nest_.value_at(reduce_.operands[0], operand_);
    const auto lanes_along = [&](const std::vector<VarId>& vars) {
      return !vars.empty() && kernel_.vars[static_cast<size_t>(vars.back())].extent >= kLanes &&
             stride_of(kernel_, element, vars.back()) == Stride::Contiguous;
    };
    const bool in_lanes =
        nest_.context().style == Style::Lanes && reduce_.dtype != loop::DType::Bool;
    if (in_lanes && lanes_along(reduced_)) {
      fold_lanes();
    } else if (in_lanes && lanes_along(kept_)) {
      keep_lanes();
    } else {
      kernel_.body = around(kept_, scalar_fold(index_of(kept_), {}, {}));
    }
  }

 private:
  int64_t extent(VarId var) const { return kernel_.vars[static_cast<size_t>(var)].extent; }

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

  // accumulator[at] = op(accumulator[at], element with `var` at `position`)
  Stmt fold(BufferRef accumulator, const Affine& at, VarId var, const Affine& position) {
    Index index = operand_;
    for (Affine& axis : index) axis = axis.substitute(var, position);
    const ExprId element = nest_.value_at(reduce_.operands[0], index);
    const ExprId before = nest_.exprs().load(accumulator, reduce_.dtype, at);
    return loop::store(accumulator, at, nest_.exprs().apply(reduce_.op, {before, element}));
  }

  // total = identity; total = op(total, …) over all reduced loops; stores. `start` runs before the
  // fold and `total` is used instead of a new register where it is given.
  std::vector<Stmt> scalar_fold(const Index& out, std::vector<Stmt> start, BufferRef total) {
    std::vector<Stmt> body = std::move(start);
    if (total.id < 0) {
      total = kernel_.add_register("total", reduce_.dtype, 1);
      body.push_back(loop::store(total, 0, identity()));
      std::vector<Stmt> step;
      step.push_back(fold(total, 0, -1, 0));
      append(body, around(reduced_, std::move(step)));
    }
    nest_.bind(group_.anchor(), nest_.exprs().load(total, reduce_.dtype, 0));
    append(body, nest_.store_members(group_, out, 0, 1));
    return body;
  }

  // Lanes along the last reduced axis, folded into one number at the end.
  void fold_lanes() {
    const VarId inner = reduced_.back();
    const int64_t count = std::clamp<int64_t>(extent(inner) / kLanes, 1, kAccumulators);
    const BufferRef lanes = kernel_.add_register("lanes", reduce_.dtype, count * kLanes);
    const BufferRef total = kernel_.add_register("total", reduce_.dtype, 1);
    const std::vector<VarId> outer(reduced_.begin(), reduced_.end() - 1);

    std::vector<Stmt> body;
    const LaneLoops clear = lane_loops(kernel_, count * kLanes);
    append(body, clear.around({loop::store(lanes, clear.element, identity())}));
    body.push_back(loop::store(total, 0, identity()));
    for (const Segment& segment : split_lanes(extent(inner), count * kLanes, false)) {
      const StepLoop step = step_loop(kernel_, "r", segment);
      const LaneLoops loops = lane_loops(kernel_, segment.width);
      const bool vector = is_vector(segment);
      append(body, around(outer, step.around(loops.around({fold(
                                     vector ? lanes : total, vector ? loops.element : Affine(0),
                                     inner, step.position + loops.element)}))));
    }
    const VarId lane = kernel_.add_var("u", count * kLanes);
    const ExprId sum = nest_.exprs().apply(
        reduce_.op, {nest_.exprs().load(total, reduce_.dtype, 0),
                     nest_.exprs().load(lanes, reduce_.dtype, Affine::variable(lane))});
    body.push_back(loop::for_loop(lane, LoopKind::Unroll, {loop::store(total, 0, sum)}));
    kernel_.body = around(kept_, scalar_fold(index_of(kept_), std::move(body), total));
  }

  // Lanes along the last kept axis, each with its own fold.
  void keep_lanes() {
    const VarId inner = kept_.back();
    const std::vector<VarId> outer(kept_.begin(), kept_.end() - 1);
    std::vector<Stmt> body;
    for (const Segment& segment : split_lanes(extent(inner), kAccumulators * kLanes, false)) {
      const StepLoop step = step_loop(kernel_, "j", segment);
      const BufferRef folds = kernel_.add_register("folds", reduce_.dtype, segment.width);
      const LaneLoops clear = lane_loops(kernel_, segment.width);
      std::vector<Stmt> tile = clear.around({loop::store(folds, clear.element, identity())});
      const LaneLoops loops = lane_loops(kernel_, segment.width);
      append(tile, around(reduced_, loops.around({fold(folds, loops.element, inner,
                                                       step.position + loops.element)})));
      const LaneLoops last = lane_loops(kernel_, segment.width);
      Index out = index_of(kept_);
      out.back() = step.position + last.element;
      nest_.bind(group_.anchor(), nest_.exprs().load(folds, reduce_.dtype, last.element));
      const Affine lane = last.vector >= 0 ? Affine::variable(last.vector) : Affine(0);
      const int64_t width = last.vector >= 0 ? kLanes : 1;
      append(tile, last.around(nest_.store_members(group_, out, lane, width)));
      append(body, step.around(std::move(tile)));
    }
    kernel_.body = around(outer, std::move(body));
  }

  Nest& nest_;
  const Group& group_;
  const graph::Node& reduce_;
  Kernel& kernel_;
  std::vector<VarId> kept_, reduced_;
  Index operand_;  // of the reduced tensor, by axis
};

}  // namespace

void lower_reduce(Nest& nest, const Group& group) { ReduceLowering(nest, group).run(); }

}  // namespace lathe::lower
