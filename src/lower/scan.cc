#include "lathe/lower/scan.h"

#include <utility>

#include "lathe/lower/strategies.h"

namespace lathe::lower {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::LoopKind;
using loop::Stmt;
using loop::VarId;

ScanLowering::ScanLowering(Nest& nest, const Group& group)
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

std::vector<Stmt> ScanLowering::around(VarId var, std::vector<Stmt> body) {
  std::vector<Stmt> outer;
  outer.push_back(loop::for_loop(var, LoopKind::Serial, std::move(body)));
  return outer;
}

Index ScanLowering::index_at(const Affine& row, const Affine& along) const {
  Index index = index_;
  for (Affine& axis : index) axis = axis.substitute(rows_, row).substitute(along_, along);
  return index;
}

ExprId ScanLowering::identity() {
  return nest_.exprs().constant(scalar::fold_identity(scan_.op, scan_.dtype));
}

ExprId ScanLowering::fold(ExprId a, ExprId b) { return nest_.exprs().apply(scan_.op, {a, b}); }

LaneLoops ScanLowering::folds_loops(int64_t width, bool vector) {
  if (vector) return vector_loops(kernel_, width, nest_.context().strategies.lanes);
  LaneLoops loops;
  if (width > 1) {
    loops.unroll = kernel_.add_var("u", width);
    loops.element = Affine::variable(loops.unroll);
  }
  return loops;
}

std::vector<Stmt> ScanLowering::strip(const Segment& segment, bool vector) {
  const StepLoop step = step_loop(kernel_, "j", segment);
  const BufferRef folds = kernel_.add_register("folds", scan_.dtype, segment.width);
  const LaneLoops clear = folds_loops(segment.width, vector);
  std::vector<Stmt> body = clear.around({loop::store(folds, clear.element, identity())});

  const LaneLoops loops = folds_loops(segment.width, vector);
  const Affine along = scan_.reverse ? Affine::variable(along_, -1) + (extent(along_) - 1)
                                     : Affine::variable(along_);
  const Affine lane = loops.vector >= 0 ? Affine::variable(loops.vector) : Affine(0);
  append(body, around(along_, loops.around(fold_next(folds, loops.element,
                                                     index_at(step.position + loops.element, along),
                                                     lane, loops.lanes))));
  return step.around(std::move(body));
}

std::vector<Stmt> ScanLowering::fold_next(BufferRef folds, const Affine& at, const Index& index,
                                          const Affine& lane, int64_t width) {
  const ExprId before = nest_.exprs().load(folds, scan_.dtype, at);
  std::vector<Stmt> body = {
      loop::store(folds, at, fold(before, nest_.value_at(scan_.operands[0], index)))};
  nest_.bind(group_.anchor(), before);
  std::vector<Stmt> stores = nest_.store_members(group_, index, lane, width);
  if (scan_.exclusive) std::swap(body, stores);
  append(body, std::move(stores));
  return body;
}

void ScanLowering::finish(std::vector<Stmt> body) {
  others_.pop_back();
  for (size_t k = others_.size(); k-- > 0;) body = around(others_[k], std::move(body));
  kernel_.body = std::move(body);
}

void lower_scan(Nest& nest, const Group& group) { nest.context().strategies.scan(nest, group); }

}  // namespace lathe::lower
