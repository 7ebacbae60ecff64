// Models written down for more rows than there are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/trace.h"

namespace lathe::onnx {

// Of decoders that go by how many earlier rows there are, and need no mask: states have `room`
// rows, the first `earlier` of them hold something; the call puts `fresh` behind them. Of other
// models, so that one graph is for texts of any length: inputs have room for `room` rows, the first
// `earlier` of them, at least two, are the text; none are fresh. (Of one row an axis may be
// broadcast or dropped.)
//
// The model is told that there are room - fresh earlier rows, which makes every shape known. Where
// it computes with that number (places of tokens, who sees whom), the graph computes with
// `earlier`. What has an axis of all rows may be moved, and computed element by element. Softmax,
// products, sums and extremes along the axis leave out the rows that do not count; what else would
// mix them in is refused.
class CountedRows {
 public:
  CountedRows(graph::Builder& builder, Tensor earlier, int64_t room, int64_t fresh);

  Tensor earlier() const { return earlier_; }  // I32 []
  Tensor all() const { return all_; }          // with the fresh ones
  int64_t fresh() const { return fresh_; }
  int64_t said() const { return room_ - fresh_; }  // to be earlier ones

  void add_state(Tensor state);
  void add_input(Tensor x, const std::vector<int>& axes);
  bool is_state(Tensor x) const { return mark(x).is_state; }
  // Whether it follows from how many rows there are: its content is that for full states.
  bool is_counted(Tensor x) const { return mark(x).is_counted; }
  // Whether every number in it grows by the same with each row.
  bool is_even(Tensor x) const { return mark(x).is_even; }
  bool has_rows(Tensor x) const { return mark(x).axes != 0; }
  bool has_rows(Tensor x, int axis) const { return (mark(x).axes >> axis & 1) != 0; }
  // Whether an output is not what it must be: kept rows with the new ones, or of true sizes.
  bool is_misplaced(Tensor x, bool is_kept) const {
    return is_kept ? mark(x).axes != bit(kCacheAxis) : mark(x).axes != 0 || mark(x).is_state;
  }
  // Whether anything is to be known of it.
  bool is_marked(Tensor x) const;

  // Goes through the nodes that were added since the last one. Error: one that mixes rows.
  Status follow();

  // The state with the fresh rows in it.
  Tensor written(Tensor state, Tensor fresh);
  // What `softmax` makes of x along an axis, which is nothing where there is no row.
  Tensor weights(Tensor x, int axis, const std::function<Tensor(Tensor)>& softmax);
  // x folded by `op` along these axes, which get size 1: rows alone.
  Tensor folded(scalar::Op op, Tensor x, const std::vector<int>& axes);
  // The operands of a sum of products along an axis of each, so that only rows add to it.
  void clear(Tensor& x, int x_axis, Tensor& y, int y_axis);
  // Sizes of axes `begin` to `end` of x, I64, and what they are said to be; nothing: they are true.
  struct Sizes {
    Tensor sizes;
    Counted said;
  };
  std::optional<Sizes> sizes(Tensor x, int64_t begin, int64_t end);
  // How many rows there are at least, and what a size is then that grows by `step` with each.
  int64_t least() const { return fresh_ > 0 ? fresh_ : 2; }
  int64_t at_least(int64_t value, int64_t step) const { return value - step * (room_ - least()); }
  // Whether a size is that of all rows. Error: it follows from how many there are in another way.
  Result<bool> is_all(const Counted& sizes, size_t k) const;

  // x as a tensor of its own with rows along these axes, too.
  Tensor along(Tensor x, const std::vector<int>& axes);

  // The nodes that were added since are fine, and x is: one that follows from the number of rows;
  // one picked from a table without rows by indices, which stand for `axis`; one with rows where
  // another one has them, but for `axes`.
  void accept() { marks_.resize(builder_.graph().nodes.size()); }
  void accept_counted(Tensor x) { accept(x, {.is_counted = true, .is_even = true}); }
  void accept_picked(Tensor x, Tensor table, Tensor indices, int axis) {
    const uint32_t axes = mark(indices).axes << axis;
    if (axes != 0 && !is_marked(table)) accept(x, {.is_counted = true, .axes = axes});
  }
  void accept_part(Tensor x, Tensor like, const std::vector<int>& axes);

 private:
  // Of axes, one bit each.
  struct Mark {
    bool is_state = false, is_counted = false, is_even = false;
    uint32_t axes = 0;   // rows lie along them
    uint32_t zeros = 0;  // and those that do not count are zero
    uint32_t fixed = 0;  // other ones that happen to be as long as there is room
  };
  static uint32_t bit(int axis) { return uint32_t{1} << axis; }
  void accept(Tensor x, Mark as);
  // Goes on where all so far is sound.
  bool follows();
  // x, this value along the axis where there is no row; x, zero there.
  Tensor filled(Tensor x, int axis, scalar::Number value);
  Tensor cleared(Tensor x, int axis);
  Mark mark(Tensor x) const;
  const Mark& mark(graph::Value x) const { return marks_[static_cast<size_t>(x.id)]; }
  Mark given(const graph::Node& node) const;
  Result<Mark> moved(const graph::Node& node) const;
  Result<Mark> contracted(const graph::Node& node) const;

  graph::Builder& builder_;
  Tensor earlier_, all_;
  int64_t room_, fresh_;
  std::vector<Mark> marks_;  // by nodes
};

}  // namespace lathe::onnx
