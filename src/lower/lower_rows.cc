// Reductions over rows with what lies between and behind them: one loop over the rows, inside it
// one pass over the row for each reduction that waits for another. The row stays in the cache.
#include <algorithm>
#include <map>
#include <utility>

#include "lower/segments.h"
#include "lower/strategies.h"
#include "lower/strides.h"

namespace lathe::lower {

using graph::Kind;
using graph::Value;
using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Kernel;
using loop::kLanes;
using loop::LoopKind;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kUnrolled = 8;  // elements of a row that is no loop
constexpr int kEnough = 12;       // operations that hide the latency of a fold

class RowLowering {
 public:
  RowLowering(Nest& nest, const Group& group, RowSpace space)
      : nest_(nest),
        group_(group),
        fusion_(nest.context().fusion),
        kernel_(nest.kernel()),
        kept_(std::move(space.kept)),
        reduced_(std::move(space.reduced)),
        index_(std::move(space.index)) {
    for (Value member : group.members) {
      if (!is_per_row(nest.context().graph, group, member)) continue;
      const bool reduces = nest.node(member).kind == Kind::Reduce;
      const loop::DType dtype = nest.node(member).dtype;
      const BufferRef held = kernel_.add_register(reduces ? "total" : "t", dtype, 1);
      per_row_[member] = held;
      nest_.bind(member, nest_.exprs().load(held, dtype, 0));
      last_pass_ = std::max(last_pass_, pass_of(member));
    }
    for (Value member : group.members) {
      last_pass_ = std::max(last_pass_, pass_of(member));
      const bool later = fusion_.last_pass[static_cast<size_t>(member.id)] > pass_of(member);
      if (later && is_stored(member)) kernel_.reread(nest.buffer_of(member));
    }
  }

  void run() {
    join_reduced_axes();
    std::vector<Stmt> body;
    for (int pass = 0; pass <= last_pass_; ++pass) {
      append(body, row_values(pass));
      append(body, pass_over_row(pass));
    }
    kernel_.body = around(kept_, std::move(body));
  }

 private:
  // What one pass over the row computes.
  struct Pass {
    std::vector<Value> elements;  // stored or used more than once
    std::vector<Value> folds;
  };

  int pass_of(Value member) const { return fusion_.pass[static_cast<size_t>(member.id)]; }
  bool is_stored(Value member) const { return fusion_.stored[static_cast<size_t>(member.id)]; }
  int64_t extent(VarId var) const { return kernel_.vars[static_cast<size_t>(var)].extent; }

  Pass contents_of(int pass) const {
    Pass contents;
    for (Value member : group_.members) {
      if (nest_.node(member).kind == Kind::Reduce) {
        if (pass_of(member) == pass + 1) contents.folds.push_back(member);
      } else if (!per_row_.contains(member) && pass_of(member) == pass) {
        const bool dear = fusion_.dear[static_cast<size_t>(member.id)];
        if (dear || is_stored(member)) contents.elements.push_back(member);
      }
    }
    return contents;
  }

  // One for each value. Elements share those before: spelled anew, a chain of elements that are
  // used twice would double at every step.
  std::vector<ExprId> exprs_of(const Pass& pass) {
    std::vector<ExprId> exprs;
    for (Value element : pass.elements) {
      exprs.push_back(nest_.computed(element, index_));
      nest_.bind(element, exprs.back());
    }
    for (Value fold : pass.folds) {
      exprs.push_back(nest_.value_at(nest_.node(fold).operands[0], index_));
    }
    for (Value element : pass.elements) nest_.unbind(element);
    return exprs;
  }

  std::vector<Stmt> around(const std::vector<VarId>& vars, std::vector<Stmt> body,
                           LoopKind kind = LoopKind::Serial) const {
    for (size_t i = vars.size(); i-- > 0;) {
      std::vector<Stmt> outer;
      outer.push_back(loop::for_loop(vars[i], kind, std::move(body)));
      body = std::move(outer);
    }
    return body;
  }

  // The last two reduced axes become one where every address walks through both without a jump.
  void join_reduced_axes() {
    std::vector<bool> used;
    const auto reach = [&](ExprId id) {
      used.resize(kernel_.exprs.size());
      used[static_cast<size_t>(id)] = true;
    };
    for (int pass = 0; pass <= last_pass_; ++pass) {
      for (ExprId id : exprs_of(contents_of(pass))) reach(id);
    }
    for (size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      const loop::Expr& expr = kernel_.exprs[id];
      for (int i = 0; i < expr.operand_count(); ++i) {
        used[static_cast<size_t>(expr.operands[static_cast<size_t>(i)])] = true;
      }
    }
    while (reduced_.size() > 1) {
      const VarId outer = reduced_[reduced_.size() - 2], inner = reduced_.back();
      const auto is_one_walk = [&](const Affine& form) {
        return form.coefficient(outer) == form.coefficient(inner) * extent(inner);
      };
      for (size_t id = 0; id < used.size(); ++id) {
        const loop::Expr& expr = kernel_.exprs[id];
        if (!used[id]) continue;
        if (!is_one_walk(expr.address)) return;
        for (const loop::Guard& guard : expr.guards) {
          if (!is_one_walk(guard.index)) return;
        }
      }
      kernel_.vars[static_cast<size_t>(inner)].extent *= extent(outer);
      for (Affine& axis : index_) axis = axis.substitute(outer, 0);
      reduced_.erase(reduced_.end() - 2);
    }
  }

  // The row's place in a tensor with one element for each row; axes of size 1 may come and go.
  Index row_index(const graph::Shape& shape) const {
    Index index;
    size_t next = 0;
    for (int64_t size : shape) {
      if (size == 1) {
        index.emplace_back(0);
        continue;
      }
      while (extent(kept_[next]) == 1) ++next;
      index.push_back(Affine::variable(kept_[next++]));
    }
    return index;
  }

  // What is known about the row before this pass.
  std::vector<Stmt> row_values(int pass) {
    std::vector<Stmt> body, stores;
    for (const auto& [member, held] : per_row_) {
      if (pass_of(member) != pass) continue;
      const graph::Node& node = nest_.node(member);
      const Index index = row_index(node.shape);
      if (node.kind != Kind::Reduce) {
        body.push_back(loop::store(held, 0, nest_.computed(member, index)));
      }
      if (!is_stored(member)) continue;
      stores.push_back(loop::store(nest_.buffer_of(member), loop::row_major(index, node.shape),
                                   nest_.exprs().load(held, node.dtype, 0)));
    }
    append(body, std::move(stores));
    return body;
  }

  std::vector<Stmt> pass_over_row(int number) {
    const Pass pass = contents_of(number);
    if (pass.elements.empty() && pass.folds.empty()) return {};
    std::vector<Stmt> body;
    for (Value fold : pass.folds) body.push_back(loop::store(per_row_[fold], 0, identity(fold)));
    if (fits_lanes(pass)) {
      append(body, pass_in_lanes(pass));
    } else {
      append(body, around(reduced_, statements(pass, index_, 0, 1, per_row_), scalar_loops()));
    }
    return body;
  }

  // A loop costs more than a few elements.
  LoopKind scalar_loops() const {
    int64_t length = 1;
    for (VarId var : reduced_) length *= extent(var);
    const bool is_short = length > 0 && length <= kUnrolled;
    return is_short && nest_.context().style == Style::Lanes ? LoopKind::Unroll : LoopKind::Serial;
  }

  ExprId identity(Value fold) {
    const graph::Node& node = nest_.node(fold);
    return nest_.exprs().constant(scalar::fold_identity(node.op, node.dtype));
  }

  bool fits_lanes(const Pass& pass) {
    if (nest_.context().style != Style::Lanes || reduced_.empty()) return false;
    if (extent(reduced_.back()) < kLanes) return false;
    const bool folds_fit = std::ranges::all_of(
        pass.folds, [&](Value fold) { return nest_.node(fold).dtype != loop::DType::Bool; });
    return folds_fit && std::ranges::all_of(exprs_of(pass), [&](ExprId expr) {
             return stride_of(kernel_, expr, reduced_.back()) != Stride::Other;
           });
  }

  // Independent running folds hide the latency of one, unless there is enough else to do.
  int64_t vectors_at_once(const Pass& pass) {
    int64_t cost = 0;
    std::vector<bool> used(kernel_.exprs.size());
    for (ExprId id : exprs_of(pass)) used[static_cast<size_t>(id)] = true;
    for (size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      const loop::Expr& expr = kernel_.exprs[id];
      for (int i = 0; i < expr.operand_count(); ++i) {
        used[static_cast<size_t>(expr.operands[static_cast<size_t>(i)])] = true;
      }
      if (expr.kind != loop::ExprKind::Apply) continue;
      const scalar::OpInfo& info = scalar::info(expr.op);
      cost += info.spelled ? info.cost : 1;
    }
    const int64_t wanted = cost < kEnough ? 4 : 1;
    return std::clamp<int64_t>(extent(reduced_.back()) / kLanes, 1, wanted);
  }

  // Lanes along the last reduced axis, folded into one number at the end.
  std::vector<Stmt> pass_in_lanes(const Pass& pass) {
    const VarId inner = reduced_.back();
    const int64_t count = vectors_at_once(pass);
    const std::vector<VarId> outer(reduced_.begin(), reduced_.end() - 1);
    std::map<Value, BufferRef> lanes;
    std::vector<Stmt> body;
    for (Value fold : pass.folds) {
      lanes[fold] = kernel_.add_register("lanes", nest_.node(fold).dtype, count * kLanes);
      const LaneLoops clear = lane_loops(kernel_, count * kLanes);
      append(body, clear.around({loop::store(lanes[fold], clear.element, identity(fold))}));
    }
    for (const Segment& segment : split_lanes(extent(inner), count * kLanes, false)) {
      const StepLoop step = step_loop(kernel_, "r", segment);
      const LaneLoops loops = lane_loops(kernel_, segment.width);
      const bool vector = is_vector(segment);
      Index index = index_;
      for (Affine& axis : index) axis = axis.substitute(inner, step.position + loops.element);
      const Affine lane = vector ? Affine::variable(loops.vector) : Affine(0);
      accumulator_ = vector ? loops.element : Affine(0);
      append(
          body,
          around(outer, step.around(loops.around(statements(pass, index, lane, vector ? kLanes : 1,
                                                            vector ? lanes : per_row_)))));
    }
    for (Value fold : pass.folds) append(body, fold_lanes(fold, lanes[fold], count));
    return body;
  }

  // Vectors into the first one, its lanes into the total.
  std::vector<Stmt> fold_lanes(Value fold, BufferRef lanes, int64_t count) {
    const graph::Node& node = nest_.node(fold);
    loop::ExprBuilder& exprs = nest_.exprs();
    const auto folded = [&](BufferRef to, const Affine& at, const Affine& from) {
      return loop::store(to, at,
                         exprs.apply(node.op, {exprs.load(to, node.dtype, at),
                                               exprs.load(lanes, node.dtype, from)}));
    };
    std::vector<Stmt> body;
    if (count > 1) {
      LaneLoops rest;
      rest.unroll = kernel_.add_var("u", count - 1);
      rest.vector = kernel_.add_var("v", kLanes);
      const Affine lane = Affine::variable(rest.vector);
      append(body, rest.around({folded(lanes, lane,
                                       lane + Affine::variable(rest.unroll, kLanes) + kLanes)}));
    }
    const VarId lane = kernel_.add_var("u", kLanes);
    body.push_back(loop::for_loop(lane, LoopKind::Unroll,
                                  {folded(per_row_[fold], 0, Affine::variable(lane))}));
    return body;
  }

  // f32x4.max takes eight instructions on x86, each of which waits for the one before; this takes
  // two that wait for `before`. A NaN stays, and so does the first of two zeros.
  ExprId folded_lanes(const graph::Node& fold, ExprId before, ExprId element) {
    using loop::Op;
    loop::ExprBuilder& exprs = nest_.exprs();
    const bool picks = scalar::info(fold.op).fold == scalar::Fold::Pick;
    if (!picks || fold.dtype != loop::DType::F32) return exprs.apply(fold.op, {before, element});
    const ExprId further = fold.op == Op::Max ? exprs.apply(Op::Lt, {before, element})
                                              : exprs.apply(Op::Lt, {element, before});
    return exprs.apply(Op::Select, {exprs.apply(Op::Ne, {element, element}), element,
                                    exprs.apply(Op::Select, {further, element, before})});
  }

  // The pass at one index. Stores come last: a row may be stored over what it is computed from.
  std::vector<Stmt> statements(const Pass& pass, const Index& index, const Affine& lane,
                               int64_t width, const std::map<Value, BufferRef>& accumulators) {
    loop::ExprBuilder& exprs = nest_.exprs();
    const bool single = pass.elements.size() + pass.folds.size() == 1;
    std::vector<Stmt> body, stores;
    for (Value element : pass.elements) {
      const graph::Node& node = nest_.node(element);
      ExprId expr = nest_.computed(element, index);
      if (!single) {
        const BufferRef held = kernel_.add_register("t", node.dtype, width);
        body.push_back(loop::store(held, lane, expr));
        expr = exprs.load(held, node.dtype, lane);
        nest_.bind(element, expr);
      }
      if (!is_stored(element)) continue;
      stores.push_back(
          loop::store(nest_.buffer_of(element), loop::row_major(index, node.shape), expr));
    }
    for (Value fold : pass.folds) {
      const graph::Node& node = nest_.node(fold);
      const BufferRef to = accumulators.at(fold);
      const Affine at = width > 1 ? accumulator_ : Affine(0);
      const ExprId before = exprs.load(to, node.dtype, at);
      const ExprId element = nest_.value_at(node.operands[0], index);
      body.push_back(loop::store(to, at,
                                 width > 1 ? folded_lanes(node, before, element)
                                           : exprs.apply(node.op, {before, element})));
    }
    for (Value element : pass.elements) nest_.unbind(element);
    append(body, std::move(stores));
    return body;
  }

  Nest& nest_;
  const Group& group_;
  const Fusion& fusion_;
  Kernel& kernel_;
  std::vector<VarId> kept_, reduced_;
  Index index_;                         // of an element of the row, by axis
  std::map<Value, BufferRef> per_row_;  // registers, in topological order
  Affine accumulator_;                  // element of the lanes that fold now
  int last_pass_ = 0;
};

}  // namespace

void lower_rows(Nest& nest, const Group& group, RowSpace space) {
  RowLowering(nest, group, std::move(space)).run();
}

}  // namespace lathe::lower
