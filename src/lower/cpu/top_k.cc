#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/segments.h"
#include "lathe/lower/sort_space.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprId;
using loop::LoopKind;
using loop::Number;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kBlock = 2 * kLanes;  // elements that one test rejects

// Slot s of the list is lane kLanes + s of its registers: lanes before slot 0 are never
// chosen.
class TopK {
 public:
  explicit TopK(SortSpace& space)
      : space_(space),
        exprs_(space.exprs()),
        kernel_(space.kernel()),
        slots_((space.count() + kLanes - 1) / kLanes * kLanes) {
    values_ = kernel_.add_register("values", space.dtype(), kLanes + slots_);
    indices_ = kernel_.add_register("places", DType::I32, kLanes + slots_);
    is_after_ = kernel_.add_register("behind", DType::Bool, kLanes + slots_);
    last_ = kernel_.add_register("last", space.dtype(), kLanes);
    open_ = kernel_.add_register("open", DType::Bool, kLanes);
    hit_ = kernel_.add_register("hit", DType::Bool, kLanes);
  }

  void run() {
    const int64_t tested = (space_.length() - space_.count()) / kBlock * kBlock;
    const int64_t filled = space_.length() - tested;
    std::vector<Stmt> body = clear();
    const VarId i = kernel_.add_var("i", filled);
    append(body, looped(i, insert(Affine::variable(i), /*filling=*/true)));
    if (tested > 0) {
      append(body, note_last());
      const VarId block = kernel_.add_var("block", tested / kBlock);
      append(body, looped(block, test(Affine::variable(block, kBlock) + filled)));
    }
    append(body, store_indices());
    kernel_.body = space_.around(std::move(body), /*outlined=*/true);
  }

 private:
  static std::vector<Stmt> looped(VarId var, std::vector<Stmt> body) {
    std::vector<Stmt> stmts;
    stmts.push_back(loop::for_loop(var, LoopKind::Serial, std::move(body)));
    return stmts;
  }

  ExprId number(int32_t value) { return exprs_.constant(Number::of(value)); }

  // Every slot is empty: its index is below 0.
  std::vector<Stmt> clear() {
    const LaneLoops lanes = lane_loops(kernel_, kLanes + slots_);
    return lanes.around({
        loop::store(values_, lanes.element, exprs_.constant(Number::from(space_.dtype(), 0))),
        loop::store(indices_, lanes.element, number(-1)),
        loop::store(is_after_, lanes.element, exprs_.constant(Number::of(false))),
    });
  }

  // Inserts x: the slots after it move on by one, the last first.
  std::vector<Stmt> insert(const Affine& source_index, bool filling) {
    const ExprId x = space_.element(source_index);
    const LaneLoops tests = lane_loops(kernel_, slots_);
    const Affine slot = tests.element + kLanes;
    ExprId is_after = space_.before(x, exprs_.load(values_, space_.dtype(), slot));
    if (filling) {
      const ExprId empty =
          exprs_.apply(Op::Lt, {exprs_.load(indices_, DType::I32, slot), number(0)});
      is_after = exprs_.apply(Op::Or, {is_after, empty});
    }
    std::vector<Stmt> body = tests.around({loop::store(is_after_, slot, is_after)});
    const BufferRef value = kernel_.add_register("moved", space_.dtype(), kLanes);
    const BufferRef from = kernel_.add_register("moved", DType::I32, kLanes);
    const VarId step = kernel_.add_var("u", slots_ / kLanes);
    const Affine first = Affine::variable(step, -kLanes) + (slots_ - kLanes);
    const LaneLoops moves = lane_loops(kernel_, kLanes);
    const Affine at = first + moves.element;
    std::vector<Stmt> move = moves.around({
        loop::store(value, moves.element, moved(values_, at, x)),
        loop::store(from, moves.element, moved(indices_, at, exprs_.index(source_index))),
    });
    const LaneLoops sets = lane_loops(kernel_, kLanes);
    const Affine to = first + sets.element + kLanes;
    append(move, sets.around({
                     loop::store(values_, to, exprs_.load(value, space_.dtype(), sets.element)),
                     loop::store(indices_, to, exprs_.load(from, DType::I32, sets.element)),
                 }));
    body.push_back(loop::for_loop(step, LoopKind::Unroll, std::move(move)));
    return body;
  }

  // The new content of the slot.
  ExprId moved(BufferRef list, const Affine& slot, ExprId inserted) {
    const DType dtype = exprs_[inserted].dtype;
    const auto at = [&](BufferRef buffer, DType type, int64_t offset) {
      return exprs_.load(buffer, type, slot + offset);
    };
    const ExprId here = exprs_.apply(
        Op::Select, {at(is_after_, DType::Bool, kLanes), inserted, at(list, dtype, kLanes)});
    return exprs_.apply(
        Op::Select, {at(is_after_, DType::Bool, kLanes - 1), at(list, dtype, kLanes - 1), here});
  }

  // The last of the k elements on all lanes, and whether it is NaN: then anything else comes before
  // it.
  std::vector<Stmt> note_last() {
    const LaneLoops lanes = lane_loops(kernel_, kLanes);
    const ExprId last = exprs_.load(values_, space_.dtype(), kLanes + space_.count() - 1);
    return lanes.around({
        loop::store(last_, lanes.element, last),
        loop::store(open_, lanes.element, exprs_.apply(Op::Ne, {last, last})),
    });
  }

  std::vector<Stmt> test(const Affine& begin) {
    const LaneLoops lanes = lane_loops(kernel_, kLanes);
    const ExprId last = exprs_.load(last_, space_.dtype(), lanes.element);
    ExprId hit = exprs_.load(open_, DType::Bool, lanes.element);
    for (int64_t vector = 0; vector < kBlock; vector += kLanes) {
      const ExprId x = space_.element(begin + lanes.element + vector);
      const Op op = space_.descending() ? Op::Gt : Op::Lt;
      hit = exprs_.apply(Op::Or, {hit, exprs_.apply(op, {x, last})});
    }
    std::vector<Stmt> body = lanes.around({loop::store(hit_, lanes.element, hit)});
    const VarId i = kernel_.add_var("i", kBlock);
    const Affine source_index = begin + Affine::variable(i);
    std::vector<Stmt> enter = insert(source_index, /*filling=*/false);
    append(enter, note_last());
    const ExprId enters =
        space_.before(space_.element(source_index), exprs_.load(last_, space_.dtype(), 0));
    body.push_back(loop::when(any_hit(), looped(i, {loop::when(enters, std::move(enter))})));
    return body;
  }

  ExprId any_hit() {
    ExprId any = exprs_.load(hit_, DType::Bool, 0);
    for (int64_t lane = 1; lane < kLanes; ++lane) {
      any = exprs_.apply(Op::Or, {any, exprs_.load(hit_, DType::Bool, lane)});
    }
    return any;
  }

  std::vector<Stmt> store_indices() {
    std::vector<Stmt> body;
    for (const Segment& segment : split_lanes(space_.count(), slots_, /*overlap=*/false)) {
      const LaneLoops lanes = lane_loops(kernel_, segment.width);
      const Affine slot = lanes.element + segment.begin;
      append(body,
             lanes.around({space_.store(slot, exprs_.load(indices_, DType::I32, slot + kLanes))}));
    }
    return body;
  }

  SortSpace& space_;
  loop::ExprBuilder& exprs_;
  loop::Kernel& kernel_;
  const int64_t slots_;  // full vectors
  BufferRef values_, indices_, is_after_, last_, open_, hit_;
};

}  // namespace

void top_k(SortSpace& space) { TopK(space).run(); }

}  // namespace lathe::lower::cpu
