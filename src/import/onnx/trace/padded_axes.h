// Tracks padded axes: axes of a fixed capacity whose valid length is a run-time value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/base/table.h"
#include "lathe/import/onnx/trace/trace.h"

namespace lathe::onnx {

// Two uses. A decoder with a KV cache and without an attention mask: states have `capacity` rows,
// of which the first `past_length` are valid; the call appends `new_length` rows. Any other model,
// so that one graph runs all lengths of a bucket: inputs are padded to `capacity` rows, of which
// the first `past_length`, at least two, are valid; new_length is 0. (An axis of length one could
// be broadcast or squeezed.)
//
// The model is traced with the nominal past length capacity - new_length, so that every shape is
// static. Where it computes with the length (token positions, causal masks), the graph reads
// `past_length` instead. Values with a padded axis may be moved and mapped element by element.
// Softmax, products, sums and extremes along the axis mask the padding; whatever else would mix
// padding with valid rows is rejected.
class PaddedAxes {
 public:
  PaddedAxes(graph::Builder& builder, Tensor past_length, int64_t capacity, int64_t new_length);

  Tensor past_length() const { return past_length_; }    // I32 []
  Tensor total_length() const { return total_length_; }  // past + new
  int64_t new_length() const { return new_length_; }
  int64_t nominal_past_length() const { return capacity_ - new_length_; }

  void add_state(Tensor state, int axis);
  void add_input(Tensor x, const std::vector<int>& axes);
  // Whether it is past rows along this axis: a state, or a part of one.
  bool is_past(Tensor x, int axis) const { return mark(x).past_axis == axis; }
  bool is_past(Tensor x) const { return mark(x).past_axis >= 0; }
  // Whether it is computed from the length; its content is that for full capacity.
  bool is_length_dependent(Tensor x) const { return mark(x).is_length_dependent; }
  // Whether each of its elements is linear in the length.
  bool is_linear(Tensor x) const { return mark(x).is_linear; }
  bool is_padded(Tensor x) const { return mark(x).axes != 0; }
  bool is_padded(Tensor x, int axis) const { return (mark(x).axes >> axis & 1) != 0; }
  // Whether an output has other padded axes than it must: the rows of a cache, or none.
  bool has_wrong_padding(Tensor x, std::optional<int> axis) const {
    return mark(x).axes != (axis ? bit(*axis) : 0) || mark(x).past_axis >= 0;
  }
  // Whether it is a state, length-dependent or padded.
  bool is_tracked(Tensor x) const;

  // Propagates marks through the nodes added since the last call. Error: one mixes padding and
  // valid rows.
  Status propagate();

  // Past rows with the new ones appended to the valid ones.
  Tensor append_rows(Tensor past, Tensor rows);
  // softmax(x) along an axis with its padding masked.
  Tensor masked_softmax(Tensor x, int axis, const std::function<Tensor(Tensor)>& softmax);
  // x reduced by `op` along these axes with their padding masked; they get size 1.
  Tensor masked_reduce(scalar::Op op, Tensor x, const std::vector<int>& axes);
  // Zeroes the padding of the operands of a sum of products along one axis of each.
  void zero_padding(Tensor& x, int x_axis, Tensor& y, int y_axis);
  // Sizes of axes `begin` to `end` of x, I64, and their nominal values; nothing: they are static.
  struct Sizes {
    Tensor sizes;
    LinearIntegers nominal;
  };
  std::optional<Sizes> sizes_of(Tensor x, int64_t begin, int64_t end);
  // The minimum of the total length, and that of a size which grows by `step` per row.
  int64_t min_length() const { return new_length_ > 0 ? new_length_ : 2; }
  int64_t min_size(int64_t value, int64_t step) const {
    return value - step * (capacity_ - min_length());
  }
  // Whether a size is the total length. Error: it depends on the length in another way.
  Result<bool> is_total_length(const LinearIntegers& sizes, size_t k) const;

  // A copy of x whose axes are padded, too.
  Tensor with_padded_axes(Tensor x, const std::vector<int>& axes);

  // Accepts the nodes added since the last call without propagating marks, and marks x: as
  // length-dependent; as gathered along `axis` from an unpadded table by padded indices; as padded
  // where `like` is, except for `axes`.
  void accept() { marks_.resize(builder_.graph().nodes.size()); }
  void accept_length_dependent(Tensor x) {
    accept(x, {.is_length_dependent = true, .is_linear = true});
  }
  void accept_gathered(Tensor x, Tensor table, Tensor indices, int axis) {
    const uint32_t axes = mark(indices).axes << axis;
    if (axes != 0 && !is_tracked(table)) accept(x, {.is_length_dependent = true, .axes = axes});
  }
  void accept_reduced(Tensor x, Tensor like, const std::vector<int>& axes);

 private:
  // Of axes, one bit each.
  struct Mark {
    int past_axis = -1;  // of past rows; -1: it is none
    bool is_length_dependent = false, is_linear = false;
    uint32_t axes = 0;         // padded ones
    uint32_t zero_padded = 0;  // those of them whose padding is zero
    uint32_t fixed = 0;        // unpadded ones whose size happens to equal the capacity
  };
  static uint32_t bit(int axis) { return uint32_t{1} << axis; }
  void accept(Tensor x, Mark as);
  // Whether propagate() succeeds; its error goes to the builder.
  bool try_propagate();
  // x with the padding of the axis set to `value`; to zero.
  Tensor masked(Tensor x, int axis, scalar::Number value);
  Tensor with_zero_padding(Tensor x, int axis);
  Mark mark(Tensor x) const;
  const Mark& mark(graph::Value x) const { return marks_[x]; }
  Mark leaf_mark(const graph::Node& node) const;
  Result<Mark> past_mark(const graph::Node& node) const;
  Result<Mark> propagated_mark(const graph::Node& node) const;
  Result<Mark> contracted(const graph::Node& node) const;

  graph::Builder& builder_;
  Tensor past_length_, total_length_;
  int64_t capacity_, new_length_;
  Table<graph::Value, Mark> marks_;  // by nodes
};

}  // namespace lathe::onnx
