// Rows with lanes along the last reduced axis where that is contiguous: running folds in registers,
// added up at the end.
#include <algorithm>
#include <utility>

#include "lathe/base/table.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/rows.h"
#include "lathe/lower/segments.h"
#include "lathe/lower/strides.h"

namespace lathe::lower::cpu {

using graph::Value;
using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::LoopKind;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kUnrolled = 8;  // elements of a row that is no loop
constexpr int kEnough = 12;       // operations that hide the latency of a fold

class LaneRows final : public RowLowering {
 public:
  using RowLowering::RowLowering;

 private:
  std::vector<Stmt> loops_of(const Pass& pass) override {
    if (fits_lanes(pass)) return pass_in_lanes(pass);
    if (has_blocked_sum(pass)) return RowLowering::loops_of(pass);
    return around(reduced(), statements(pass, index(), {.folds = per_row()}), scalar_loops());
  }

  // A loop costs more than a few elements.
  LoopKind scalar_loops() const {
    int64_t length = 1;
    for (VarId var : reduced()) length *= extent(var);
    return length > 0 && length <= kUnrolled ? LoopKind::Unroll : LoopKind::Serial;
  }

  bool fits_lanes(const Pass& pass) {
    if (reduced().empty() || extent(reduced().back()) < kLanes) return false;
    const bool folds_fit = std::ranges::all_of(
        pass.folds, [&](Value fold) { return nest().node(fold).dtype != loop::DType::Bool; });
    return folds_fit && std::ranges::all_of(exprs_of(pass), [&](ExprId expr) {
             return stride_of(kernel(), expr, reduced().back()) != Stride::Other;
           });
  }

  // Independent running folds hide the latency of one, unless there is enough else to do.
  int64_t vectors_at_once(const Pass& pass) {
    int64_t cost = 0;
    Table<ExprId, bool> used(kernel().exprs.size());
    for (ExprId id : exprs_of(pass)) used[id] = true;
    for (size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      const loop::Expr& expr = kernel().exprs[id];
      for (int i = 0; i < expr.operand_count(); ++i) {
        used[expr.operands[i]] = true;
      }
      if (expr.kind != loop::ExprKind::Apply) continue;
      const scalar::OpInfo& info = scalar::info(expr.op);
      cost += info.expanded ? info.cost : 1;
    }
    const int64_t requested = cost < kEnough ? 4 : 1;
    return std::clamp<int64_t>(extent(reduced().back()) / kLanes, 1, requested);
  }

  // Lanes along the last reduced axis, folded into one number at the end.
  std::vector<Stmt> pass_in_lanes(const Pass& pass) {
    const VarId inner = reduced().back();
    const int64_t count = vectors_at_once(pass);
    const std::vector<VarId> outer(reduced().begin(), reduced().end() - 1);
    Registers lanes;
    std::vector<Stmt> body;
    for (Value fold : pass.folds) {
      lanes[fold] = kernel().add_register("lanes", nest().node(fold).dtype, count * kLanes);
      const LaneLoops clear = lane_loops(kernel(), count * kLanes);
      append(body, clear.around({loop::store(lanes[fold], clear.element, identity(fold))}));
    }
    const bool is_long = has_blocked_sum(pass);
    for (const Segment& segment : split_lanes(extent(inner), count * kLanes, false)) {
      const StepLoop step = step_loop(kernel(), "r", segment);
      const LaneLoops loops = lane_loops(kernel(), segment.width);
      const bool vector = is_vector(segment);
      Index at = index();
      for (Affine& axis : at) axis = axis.substitute(inner, step.position + loops.element);
      const auto lanes_of = [&](const Registers& folds) {
        return vector ? Lanes{Affine::variable(loops.vector), kLanes, loops.element, folds}
                      : Lanes{.folds = folds};
      };
      const Registers& totals = vector ? lanes : per_row();
      if (!is_long) {
        append(body,
               around(outer, step.around(loops.around(statements(pass, at, lanes_of(totals))))));
        continue;
      }
      std::vector<Trip> trips;
      for (const VarId var : outer) trips.push_back({var, extent(var)});
      if (step.var >= 0) trips.push_back({step.var, segment.count});
      const auto terms = [&](const Indices& indices, const Registers& folds) {
        return loops.around(statements(pass, moved(at, indices), lanes_of(folds)));
      };
      append(body, summed(pass, totals, vector ? segment.width : 1, trips, terms));
    }
    for (Value fold : pass.folds) append(body, fold_lanes(fold, lanes[fold], count));
    return body;
  }

  // Vectors into the first one, its lanes into the total.
  std::vector<Stmt> fold_lanes(Value fold, BufferRef lanes, int64_t count) {
    const graph::Node& node = nest().node(fold);
    loop::ExprBuilder& exprs = nest().exprs();
    const auto folded = [&](BufferRef to, const Affine& at, const Affine& from) {
      return loop::store(to, at,
                         exprs.apply(node.op, {exprs.load(to, node.dtype, at),
                                               exprs.load(lanes, node.dtype, from)}));
    };
    std::vector<Stmt> body;
    if (count > 1) {
      LaneLoops rest;
      rest.unroll = kernel().add_var("u", count - 1);
      rest.vector = kernel().add_var("v", kLanes);
      const Affine lane = Affine::variable(rest.vector);
      append(body, rest.around({folded(lanes, lane,
                                       lane + Affine::variable(rest.unroll, kLanes) + kLanes)}));
    }
    const VarId lane = kernel().add_var("u", kLanes);
    body.push_back(loop::for_loop(lane, LoopKind::Unroll,
                                  {folded(per_row().at(fold), 0, Affine::variable(lane))}));
    return body;
  }
};

}  // namespace

void lower_rows(Nest& nest, const Group& group, RowSpace space) {
  LaneRows(nest, group, std::move(space)).run();
}

}  // namespace lathe::lower::cpu
