#include "lower/segments.h"
#include "lower/sort_space.h"

namespace lathe::lower {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprId;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

class RunMerger {
 public:
  explicit RunMerger(SortSpace& space)
      : space_(space), exprs_(space.exprs()), kernel_(space.kernel()) {
    for (Runs& each : runs_) {
      each = {space.add_scratch("values", space.dtype()), space.add_scratch("places", DType::I32)};
    }
    left_ = kernel_.add_register("left", DType::I32, 1);
    right_ = kernel_.add_register("right", DType::I32, 1);
    takes_left_ = kernel_.add_register("takes_left", DType::Bool, 1);
  }

  void run() {
    std::vector<Stmt> body;
    for (int64_t width = 1; width < space_.length(); width *= 2) append(body, pass(width));
    kernel_.body = space_.around(std::move(body), /*outlined=*/true);
  }

 private:
  // From runs of this width to runs of twice it; the last pass stores the places that are wanted.
  std::vector<Stmt> pass(int64_t width) {
    const int64_t whole = space_.length() / (2 * width), rest = space_.length() % (2 * width);
    const bool last = 2 * width >= space_.length();
    std::vector<Stmt> body;
    if (last) {
      append(body, merge(0, width, space_.length(), space_.count(), last));
    } else {
      const StepLoop pair = step_loop(kernel_, "pair", {0, whole, 2 * width});
      append(body, pair.around(merge(pair.position, width, 2 * width, 2 * width, last)));
      const Affine begin(whole * 2 * width);
      if (rest > width) append(body, merge(begin, width, rest, rest, last));
      if (rest > 0 && rest <= width) append(body, copy(begin, rest));
    }
    is_first_ = false;
    std::swap(runs_[0], runs_[1]);
    return body;
  }

  // Sorted elements and where they were.
  struct Runs {
    BufferRef values, places;
  };

  // What the pass before left here.
  ExprId left_at(BufferRef buffer, DType dtype, ExprId here) {
    return exprs_.load(buffer, dtype, space_.scratch_address(0), {}, here, {1, space_.length()});
  }

  ExprId value_at(ExprId here) {
    return is_first_ ? space_.element_at(here) : left_at(runs_[0].values, space_.dtype(), here);
  }

  ExprId place_at(ExprId here) {
    return is_first_ ? here : left_at(runs_[0].places, DType::I32, here);
  }

  void store(std::vector<Stmt>& body, const Affine& at, ExprId value, ExprId place) {
    const Affine address = space_.scratch_address(at);
    body.push_back(loop::store(runs_[1].values, address, value));
    body.push_back(loop::store(runs_[1].places, address, place));
  }

  // The runs from begin and begin + middle on, up to begin + end; `count` elements of them.
  std::vector<Stmt> merge(const Affine& begin, int64_t middle, int64_t end, int64_t count,
                          bool last) {
    const ExprId left = exprs_.load(left_, DType::I32, 0),
                 right = exprs_.load(right_, DType::I32, 0);
    const ExprId takes_left = exprs_.load(takes_left_, DType::Bool, 0);
    const ExprId in_order = exprs_.apply(Op::Not, {space_.before(value_at(right), value_at(left))});
    const ExprId has_left = exprs_.apply(Op::Lt, {left, exprs_.index(begin + middle)});
    const ExprId no_right = exprs_.apply(Op::Ge, {right, exprs_.index(begin + end)});
    const ExprId chosen = exprs_.apply(Op::Select, {takes_left, left, right});
    const auto advanced = [&](ExprId place, ExprId taken) {
      return exprs_.apply(Op::Add, {place, exprs_.cast(taken, DType::I32)});
    };
    const VarId var = kernel_.add_var("t", count);
    const Affine at = begin + Affine::variable(var);
    std::vector<Stmt> step;
    step.push_back(
        loop::store(takes_left_, 0,
                    exprs_.apply(Op::Or, {no_right, exprs_.apply(Op::And, {has_left, in_order})})));
    if (last) {
      step.push_back(space_.store(at, place_at(chosen)));
    } else {
      store(step, at, value_at(chosen), place_at(chosen));
    }
    step.push_back(loop::store(left_, 0, advanced(left, takes_left)));
    step.push_back(loop::store(right_, 0, advanced(right, exprs_.apply(Op::Not, {takes_left}))));
    std::vector<Stmt> body;
    body.push_back(loop::store(left_, 0, exprs_.index(begin)));
    body.push_back(loop::store(right_, 0, exprs_.index(begin + middle)));
    body.push_back(loop::for_loop(var, LoopKind::Serial, std::move(step)));
    return body;
  }

  std::vector<Stmt> copy(const Affine& begin, int64_t count) {
    const VarId var = kernel_.add_var("t", count);
    const Affine at = begin + Affine::variable(var);
    const ExprId here = exprs_.index(at);
    std::vector<Stmt> copied, body;
    store(copied, at, value_at(here), place_at(here));
    body.push_back(loop::for_loop(var, LoopKind::Serial, std::move(copied)));
    return body;
  }

  SortSpace& space_;
  loop::ExprBuilder& exprs_;
  loop::Kernel& kernel_;
  Runs runs_[2];  // the next pass reads the first
  bool is_first_ = true;
  BufferRef left_, right_, takes_left_;
};

}  // namespace

void merge_runs(SortSpace& space) { RunMerger(space).run(); }

}  // namespace lathe::lower
