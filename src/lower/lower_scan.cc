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

constexpr int64_t kStrip = 8 * kLanes;  // two cache lines of every row
// Folds of several rows at once hide the latency of one.
constexpr int64_t kRows = 8;

class ScanLowering {
 public:
  ScanLowering(Nest& nest, const Group& group)
      : nest_(nest), group_(group), scan_(nest.node(group.anchor())), kernel_(nest.kernel()) {
    const auto axis = static_cast<size_t>(scan_.axes[0]);
    for (size_t k = 0; k < scan_.shape.size(); ++k) {
      const VarId var = kernel_.add_var("i", scan_.shape[k]);
      (k == axis ? along_ : others_.emplace_back()) = var;
      index_.push_back(Affine::variable(var));
    }
    if (scan_.reverse) {
      index_[axis] = Affine(scan_.shape[axis] - 1) + Affine::variable(along_, -1);
    }
  }

  void run() {
    const bool in_lanes = nest_.context().style == Style::Lanes && scan_.dtype != loop::DType::Bool;
    if (others_.empty()) {
      others_.push_back(kernel_.add_var("i", 1));
    }
    const VarId split_var = others_.back();
    const bool contiguous = in_lanes && extent(split_var) >= kLanes &&
                            stride_of(kernel_, nest_.value_at(scan_.operands[0], index_),
                                      split_var) == Stride::Contiguous;
    std::vector<Stmt> body;
    const std::vector<Segment> segments = contiguous ? split_lanes(extent(split_var), kStrip, false)
                                                     : split(extent(split_var), kRows);
    for (const Segment& segment : segments) {
      append(body, strip(segment, split_var, contiguous && is_vector(segment)));
    }
    others_.pop_back();
    for (size_t k = others_.size(); k-- > 0;) body = around(others_[k], std::move(body));
    kernel_.body = std::move(body);
  }

 private:
  int64_t extent(VarId var) const { return kernel_.vars[static_cast<size_t>(var)].extent; }

  static std::vector<Stmt> around(VarId var, std::vector<Stmt> body) {
    std::vector<Stmt> outer;
    outer.push_back(loop::for_loop(var, LoopKind::Serial, std::move(body)));
    return outer;
  }

  // Loops over the folds of a strip: lanes, or one number after the other.
  LaneLoops folds_loops(int64_t width, bool vector) {
    if (vector) return lane_loops(kernel_, width);
    LaneLoops loops;
    if (width > 1) {
      loops.unroll = kernel_.add_var("u", width);
      loops.element = Affine::variable(loops.unroll);
    }
    return loops;
  }

  std::vector<Stmt> strip(const Segment& segment, VarId split_var, bool vector) {
    const StepLoop step = step_loop(kernel_, "j", segment);
    const BufferRef folds = kernel_.add_register("folds", scan_.dtype, segment.width);
    const LaneLoops clear = folds_loops(segment.width, vector);
    const ExprId identity = nest_.exprs().constant(scalar::fold_identity(scan_.op, scan_.dtype));
    std::vector<Stmt> body = clear.around({loop::store(folds, clear.element, identity)});

    const LaneLoops loops = folds_loops(segment.width, vector);
    Index index = index_;
    for (Affine& axis : index) axis = axis.substitute(split_var, step.position + loops.element);
    const ExprId before = nest_.exprs().load(folds, scan_.dtype, loops.element);
    const ExprId element = nest_.value_at(scan_.operands[0], index);
    const Stmt fold =
        loop::store(folds, loops.element, nest_.exprs().apply(scan_.op, {before, element}));
    nest_.bind(group_.anchor(), before);
    const Affine lane = loops.vector >= 0 ? Affine::variable(loops.vector) : Affine(0);
    std::vector<Stmt> inner =
        nest_.store_members(group_, index, lane, loops.vector >= 0 ? kLanes : 1);
    inner.insert(scan_.exclusive ? inner.end() : inner.begin(), fold);
    append(body, around(along_, loops.around(std::move(inner))));
    return step.around(std::move(body));
  }

  Nest& nest_;
  const Group& group_;
  const graph::Node& scan_;
  Kernel& kernel_;
  VarId along_ = -1;
  std::vector<VarId> others_;
  Index index_;  // of the scanned tensor, by axis
};

}  // namespace

void lower_scan(Nest& nest, const Group& group) { ScanLowering(nest, group).run(); }

}  // namespace lathe::lower
