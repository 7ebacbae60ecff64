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
constexpr int64_t kRowsOfLanes = 4;

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
    if (others_.empty()) others_.push_back(kernel_.add_var("i", 1));
    rows_ = others_.back();
  }

  void run() {
    const bool in_lanes = nest_.context().style == Style::Lanes && scan_.dtype != loop::DType::Bool;
    const bool across = in_lanes && is_contiguous(rows_);
    const bool along = in_lanes && !across && is_contiguous(along_);
    std::vector<Stmt> body;
    const std::vector<Segment> segments = across
                                              ? split_lanes(extent(rows_), kStrip, false)
                                              : split(extent(rows_), along ? kRowsOfLanes : kRows);
    for (const Segment& segment : segments) {
      append(body, along ? lanes_along(segment) : strip(segment, across && is_vector(segment)));
    }
    others_.pop_back();
    for (size_t k = others_.size(); k-- > 0;) body = around(others_[k], std::move(body));
    kernel_.body = std::move(body);
  }

 private:
  int64_t extent(VarId var) const { return kernel_.vars[static_cast<size_t>(var)].extent; }

  // Whether elements of what is scanned lie side by side along this loop.
  bool is_contiguous(VarId var) {
    if (extent(var) < kLanes) return false;
    const ExprId element = nest_.value_at(scan_.operands[0], index_);
    return stride_of(kernel_, element, var) == Stride::Contiguous;
  }

  static std::vector<Stmt> around(VarId var, std::vector<Stmt> body) {
    std::vector<Stmt> outer;
    outer.push_back(loop::for_loop(var, LoopKind::Serial, std::move(body)));
    return outer;
  }

  Index index_at(const Affine& row, const Affine& along) const {
    Index index = index_;
    for (Affine& axis : index) axis = axis.substitute(rows_, row).substitute(along_, along);
    return index;
  }

  ExprId identity() { return nest_.exprs().constant(scalar::fold_identity(scan_.op, scan_.dtype)); }

  ExprId load(BufferRef buffer, const Affine& at) {
    return nest_.exprs().load(buffer, scan_.dtype, at);
  }

  ExprId fold(ExprId a, ExprId b) { return nest_.exprs().apply(scan_.op, {a, b}); }

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

  // Folds side by side that go along the axis together.
  std::vector<Stmt> strip(const Segment& segment, bool vector) {
    const StepLoop step = step_loop(kernel_, "j", segment);
    const BufferRef folds = kernel_.add_register("folds", scan_.dtype, segment.width);
    const LaneLoops clear = folds_loops(segment.width, vector);
    std::vector<Stmt> body = clear.around({loop::store(folds, clear.element, identity())});

    const LaneLoops loops = folds_loops(segment.width, vector);
    const Affine along = scan_.reverse ? Affine::variable(along_, -1) + (extent(along_) - 1)
                                       : Affine::variable(along_);
    const Affine lane = loops.vector >= 0 ? Affine::variable(loops.vector) : Affine(0);
    append(body,
           around(along_, loops.around(fold_next(folds, loops.element,
                                                 index_at(step.position + loops.element, along),
                                                 lane, loops.vector >= 0 ? kLanes : 1))));
    return step.around(std::move(body));
  }

  // folds[at] takes in the element at the index, before or after what follows is stored.
  std::vector<Stmt> fold_next(BufferRef folds, const Affine& at, const Index& index,
                              const Affine& lane, int64_t width) {
    const ExprId before = load(folds, at);
    const Stmt next =
        loop::store(folds, at, fold(before, nest_.value_at(scan_.operands[0], index)));
    nest_.bind(group_.anchor(), before);
    std::vector<Stmt> body = nest_.store_members(group_, index, lane, width);
    body.insert(scan_.exclusive ? body.end() : body.begin(), next);
    return body;
  }

  // Registers for a vector of each row and another beside it, on the side that the scan comes from.
  struct Vectors {
    BufferRef buffer;
    bool own_second;

    Affine own(const LaneLoops& lanes) const { return at(lanes, own_second); }
    Affine beside(const LaneLoops& lanes) const { return at(lanes, !own_second); }
    // The element that comes `steps` before each of its own.
    Affine before(const LaneLoops& lanes, int64_t steps) const {
      return own(lanes) + (own_second ? -steps : steps);
    }
    // The element of its own that comes last.
    Affine last(const LaneLoops& lanes) const {
      Affine address = before(lanes, own_second ? 1 - kLanes : 0);
      return address.substitute(lanes.vector, 0);
    }

   private:
    static Affine at(const LaneLoops& lanes, bool second) {
      Affine address = lanes.element + (second ? kLanes : 0);
      if (lanes.unroll >= 0) address += Affine::variable(lanes.unroll, kLanes);
      return address;
    }
  };

  Vectors add_vectors(const char* name, int64_t rows) {
    return {kernel_.add_register(name, scan_.dtype, 2 * kLanes * rows), !scan_.reverse};
  }

  // Several rows at once, each vector of a row on its own first: folds of neighbours one and two
  // places before, which regroups sums; then with the fold of what came before the vector.
  std::vector<Stmt> lanes_along(const Segment& segment) {
    const int64_t rows = segment.width, vectors = extent(along_) / kLanes;
    const StepLoop step = step_loop(kernel_, "j", segment);
    const BufferRef folds = kernel_.add_register("folds", scan_.dtype, rows * kLanes);
    const Vectors elements = add_vectors("elements", rows), pairs = add_vectors("pairs", rows);
    const Vectors scanned = add_vectors("scanned", rows);
    const LaneLoops clear = lane_loops(kernel_, rows * kLanes);
    std::vector<Stmt> body = clear.around({
        loop::store(folds, clear.element, identity()),
        loop::store(elements.buffer, elements.beside(clear), identity()),
        loop::store(pairs.buffer, pairs.beside(clear), identity()),
    });

    const VarId block = kernel_.add_var("block", vectors);
    const auto index = [&](const LaneLoops& lanes) {
      const Affine row = lanes.unroll >= 0 ? Affine::variable(lanes.unroll) : Affine(0);
      const Affine along = scan_.reverse
                               ? Affine::variable(block, -kLanes) + (extent(along_) - kLanes)
                               : Affine::variable(block, kLanes);
      return index_at(step.position + row, along + Affine::variable(lanes.vector));
    };
    std::vector<Stmt> inner;
    const LaneLoops l = lane_loops(kernel_, rows * kLanes);
    const ExprId x = nest_.value_at(scan_.operands[0], index(l));
    append(inner, l.around({loop::store(elements.buffer, elements.own(l), x)}));
    const ExprId two =
        fold(load(elements.buffer, elements.before(l, 1)), load(elements.buffer, elements.own(l)));
    append(inner, l.around({loop::store(pairs.buffer, pairs.own(l), two)}));
    const ExprId four =
        fold(load(pairs.buffer, pairs.before(l, 2)), load(pairs.buffer, pairs.own(l)));
    append(inner,
           l.around({
               loop::store(scanned.buffer, scanned.beside(l), load(folds, l.element)),
               loop::store(scanned.buffer, scanned.own(l), fold(load(folds, l.element), four)),
           }));
    nest_.bind(group_.anchor(), load(scanned.buffer, scanned.before(l, scan_.exclusive ? 1 : 0)));
    append(inner,
           l.around(nest_.store_members(group_, index(l), Affine::variable(l.vector), kLanes)));
    append(inner, l.around({loop::store(folds, l.element, load(scanned.buffer, scanned.last(l)))}));
    append(body, around(block, std::move(inner)));
    append(body, rest_of_rows(step, folds, rows, vectors * kLanes));
    return step.around(std::move(body), /*outlined=*/true);
  }

  // What is left of the rows behind `done` elements, one after the other.
  std::vector<Stmt> rest_of_rows(const StepLoop& step, BufferRef folds, int64_t rows,
                                 int64_t done) {
    const int64_t rest = extent(along_) - done;
    if (rest == 0) return {};
    const VarId var = kernel_.add_var("i", rest);
    const Affine along =
        scan_.reverse ? Affine::variable(var, -1) + (rest - 1) : Affine::variable(var) + done;
    const LaneLoops loops = folds_loops(rows, /*vector=*/false);
    return around(var,
                  loops.around(fold_next(folds, loops.element * kLanes,
                                         index_at(step.position + loops.element, along), 0, 1)));
  }

  Nest& nest_;
  const Group& group_;
  const graph::Node& scan_;
  Kernel& kernel_;
  VarId along_ = -1;
  std::vector<VarId> others_;
  VarId rows_ = -1;  // the last of them
  Index index_;      // of the scanned tensor, by axis
};

}  // namespace

void lower_scan(Nest& nest, const Group& group) { ScanLowering(nest, group).run(); }

}  // namespace lathe::lower
