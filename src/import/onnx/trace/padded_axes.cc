#include "lathe/import/onnx/trace/padded_axes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/nn/attention.h"

namespace lathe::onnx {

using graph::DType;
using graph::Kind;
using graph::Node;
using graph::Op;

namespace {

// The axis of `to` that equals axis `axis` of `from` in a row-major reshape; -1: it is split or
// merged, or there are no elements.
int reshaped(const Shape& from, const Shape& to, int axis) {
  if (graph::element_count(from) == 0) return -1;
  const auto at = static_cast<size_t>(axis);
  const int64_t before =
      graph::element_count({from.begin(), from.begin() + static_cast<int64_t>(at)});
  int64_t count = 1;
  for (size_t k = 0; k < to.size(); count *= to[k++]) {
    if (count == before && to[k] == from[at]) return static_cast<int>(k);
  }
  return -1;
}

// The axis of a result of `shape` that is the full extent of dimension `d` and nothing else.
int axis_of(const graph::AffineMap& map, const Shape& shape, int d, int64_t size) {
  for (size_t k = 0; k < map.axes.size(); ++k) {
    if (map.axes[k].single_dimension() == d && shape[k] == size) return static_cast<int>(k);
  }
  return -1;
}

// Whether a node of linear operands, `dependent` of which depend on the length, is linear. Casts
// may truncate fractions, and narrow integers wrap.
bool is_linear_node(const Node& node, int64_t dependent) {
  switch (node.kind) {
    case Kind::Cast:
      return node.dtype == DType::I32 || node.dtype == DType::I64;
    case Kind::Reshape:
    case Kind::Reindex:
    case Kind::Join:
      return true;
    case Kind::Map:
      return node.op == Op::Add || node.op == Op::Sub || node.op == Op::Neg ||
             (node.op == Op::Mul && dependent == 1);
    default:
      return false;
  }
}

std::unexpected<Error> size_clash() {
  return fail("has an unpadded axis whose size equals the capacity of a padded one");
}

std::unexpected<Error> mixes_padding() {
  return fail("mixes valid rows of a padded axis with its padding");
}

}  // namespace

PaddedAxes::PaddedAxes(graph::Builder& builder, Tensor past_length, int64_t capacity,
                       int64_t new_length)
    : builder_(builder),
      past_length_(past_length),
      total_length_(new_length == 0
                        ? past_length
                        : past_length + builder.full({}, scalar::Number::of(
                                                             static_cast<int32_t>(new_length)))),
      capacity_(capacity),
      new_length_(new_length) {
  try_propagate();
}

PaddedAxes::Mark PaddedAxes::mark(Tensor x) const {
  const auto at = static_cast<size_t>(x.value.id);
  return x.builder == &builder_ && x.valid() && at < marks_.size() ? marks_[at] : Mark{};
}

bool PaddedAxes::is_tracked(Tensor x) const {
  const Mark of = mark(x);
  return of.past_axis >= 0 || of.is_length_dependent || of.axes != 0;
}

void PaddedAxes::add_state(Tensor state, int axis) { accept(state, {.past_axis = axis}); }

void PaddedAxes::add_input(Tensor x, const std::vector<int>& axes) {
  Mark input;
  for (const int axis : axes) input.axes |= bit(axis);
  accept(x, input);
}

Status PaddedAxes::propagate() {
  const graph::Graph& graph = builder_.graph();
  while (marks_.size() < graph.nodes.size()) {
    const Node& node = graph.nodes[marks_.size()];
    bool is_past = false, has_padding = false, is_fixed = false, is_linear = true;
    int64_t dependent = 0;
    for (const graph::Value each : node.operands) {
      const Mark& of = mark(each);
      is_past = is_past || of.past_axis >= 0;
      has_padding = has_padding || of.axes != 0;
      is_fixed = is_fixed || of.fixed != 0;
      dependent += of.is_length_dependent ? 1 : 0;
      is_linear = is_linear && (!of.is_length_dependent || of.is_linear);
    }
    if (is_past) {
      LATHE_ASSIGN_OR_RETURN(const Mark past, past_mark(node));
      marks_.push_back(past);
      continue;
    }
    Mark next = leaf_mark(node);
    if (has_padding || is_fixed) {
      LATHE_ASSIGN_OR_RETURN(next, propagated_mark(node));
    }
    next.is_length_dependent = dependent > 0 || (has_padding && next.axes == 0);
    const bool is_selection =
        (node.kind == Kind::Gather && !mark(node.operands[1]).is_length_dependent) ||
        (node.op == Op::Select && !mark(node.operands[0]).is_length_dependent);
    next.is_linear = is_linear && dependent > 0 &&
                     (is_selection || is_linear_node(node, dependent)) &&
                     !scalar::is_float(node.dtype);
    marks_.push_back(next);
  }
  return {};
}

// Constants and inputs have unpadded axes, except for a broadcast scalar.
PaddedAxes::Mark PaddedAxes::leaf_mark(const Node& node) const {
  Mark mark;
  const bool is_one =
      node.kind == Kind::Constant && std::ssize(node.data) == scalar::size_of(node.dtype);
  if (is_one || (node.kind != Kind::Constant && node.kind != Kind::Input)) return mark;
  for (size_t axis = 0; axis < node.shape.size(); ++axis) {
    if (node.shape[axis] == capacity_) mark.fixed |= bit(static_cast<int>(axis));
  }
  return mark;
}

// Parts of past rows, such as the keys of a tensor that has keys and values.
Result<PaddedAxes::Mark> PaddedAxes::past_mark(const Node& node) const {
  const auto premature = [] { return fail("reads a cache before the new rows are appended"); };
  const int from = mark(node.operands[0]).past_axis;
  if (from < 0) return premature();
  const Shape& shape = builder_.graph()[node.operands[0]].shape;
  const auto at = static_cast<size_t>(from);
  int to = -1;
  if (node.kind == Kind::Reshape) {
    to = reshaped(shape, node.shape, from);
  } else if (node.kind == Kind::Reindex) {
    const int d = node.map.axes[at].single_dimension();
    if (d >= 0 && node.shape[d] == shape[at]) to = d;
  } else if (node.kind == Kind::Gather && node.axes[0] != from) {
    const Mark& index = mark(node.operands[1]);
    if (index.past_axis < 0 && !index.is_length_dependent && index.axes == 0) to = from;
  }
  if (to < 0) return premature();
  return Mark{.past_axis = to};
}

// The padded axes of a node's result, from those of its operands.
Result<PaddedAxes::Mark> PaddedAxes::propagated_mark(const Node& node) const {
  Mark next;
  // Padded axis `from` of operand k becomes axis `axis(from)` of the result.
  const auto move = [&](size_t k, auto axis) -> Status {
    const Mark& of = mark(node.operands[k]);
    const int rank = static_cast<int>(builder_.graph()[node.operands[k]].shape.size());
    for (int from = 0; from < rank; ++from) {
      const bool is_row = (of.axes & bit(from)) != 0;
      if (!is_row && (of.fixed & bit(from)) == 0) continue;
      const int to = axis(from);
      if (to < 0 && is_row) return mixes_padding();
      if (to < 0) continue;
      (is_row ? next.axes : next.fixed) |= bit(to);
      if ((of.zero_padded & bit(from)) != 0) next.zero_padded |= bit(to);
    }
    return {};
  };
  const auto same = [](int axis) { return axis; };
  const Shape& from = builder_.graph()[node.operands[0]].shape;
  switch (node.kind) {
    case Kind::Cast:
      LATHE_TRY(move(0, same));
      break;
    case Kind::Map:
      for (size_t k = 0; k < node.operands.size(); ++k) LATHE_TRY(move(k, same));
      next.zero_padded = 0;
      break;
    case Kind::Reshape:
      LATHE_TRY(move(0, [&](int axis) { return reshaped(from, node.shape, axis); }));
      break;
    case Kind::Reindex:
      LATHE_TRY(move(0, [&](int axis) {
        const int d = node.map.axes[axis].single_dimension();
        return d >= 0 && node.shape[d] == from[axis] ? d : -1;
      }));
      break;
    case Kind::Join:
      for (size_t k = 0; k < node.operands.size(); ++k) {
        const Shape& shape = builder_.graph()[node.operands[k]].shape;
        LATHE_TRY(move(
            k, [&](int axis) { return axis_of(node.maps[k], node.shape, axis, shape[axis]); }));
      }
      next.zero_padded = 0;
      break;
    case Kind::Gather:
      LATHE_TRY(move(0, [&](int axis) { return axis == node.axes[0] ? -1 : axis; }));
      LATHE_TRY(move(1, same));
      next.zero_padded = 0;
      break;
    case Kind::Scan:
      if (node.reverse && (mark(node.operands[0]).axes & bit(node.axes[0])) != 0)
        return mixes_padding();
      LATHE_TRY(move(0, same));
      next.zero_padded = 0;
      break;
    case Kind::Reduce:
      LATHE_TRY(move(0, [&](int axis) {
        return std::ranges::find(node.axes, axis) != node.axes.end()
                   ? -1
                   : axis - static_cast<int>(std::ranges::lower_bound(node.axes, axis) -
                                             node.axes.begin());
      }));
      break;
    case Kind::Contract:
      return contracted(node);
    default:
      for (size_t k = 0; k < node.operands.size(); ++k) LATHE_TRY(move(k, [](int) { return -1; }));
  }
  if ((next.axes & next.fixed) != 0) return size_clash();
  return next;
}

Result<PaddedAxes::Mark> PaddedAxes::contracted(const Node& node) const {
  const graph::Contraction& sum = node.contraction;
  uint64_t rows = 0, fixed = 0, others = 0;  // dimensions; `others`: padding that may not be zero
  for (const auto& [operand, map] : {std::pair{0, &sum.lhs}, {1, &sum.rhs}}) {
    const Mark& of = mark(node.operands[operand]);
    const Shape& shape = builder_.graph()[node.operands[operand]].shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const bool is_row = (of.axes & bit(static_cast<int>(axis))) != 0;
      if (!is_row && (of.fixed & bit(static_cast<int>(axis))) == 0) continue;
      const int d = map->axes[axis].single_dimension();
      const bool is_full = d >= 0 && sum.extents[d] == shape[axis];
      if (!is_full && is_row) return mixes_padding();
      if (!is_full) continue;
      (is_row ? rows : fixed) |= uint64_t{1} << d;
      if (!is_row) continue;
      const bool is_zero = (of.zero_padded & bit(static_cast<int>(axis))) != 0;
      if (!is_zero) others |= uint64_t{1} << d;
    }
  }
  if ((rows & fixed) != 0) return size_clash();
  Mark next;
  for (; fixed != 0; fixed &= fixed - 1) {
    const int d = std::countr_zero(fixed);
    const int axis = axis_of(sum.out, node.shape, d, sum.extents[d]);
    if (axis >= 0) next.fixed |= bit(axis);
  }
  for (; rows != 0; rows &= rows - 1) {
    const int d = std::countr_zero(rows);
    const bool is_zero = (others >> d & 1) == 0;
    const int axis = axis_of(sum.out, node.shape, d, sum.extents[d]);
    if (axis < 0 && !is_zero) return mixes_padding();
    if (axis < 0) continue;
    next.axes |= bit(axis);
    if (is_zero) next.zero_padded |= bit(axis);
  }
  return next;
}

Tensor PaddedAxes::append_rows(Tensor past, Tensor rows) {
  const int axis = mark(past).past_axis;
  const bool fits = rows.rank() == past.rank() && rows.shape()[axis] == new_length_;
  if (!fits) return builder_.error("appends another number of rows to a cache than the call has");
  const Tensor next = ops::write_rows(past, rows, past_length_, true, axis);
  accept(next, {.axes = bit(axis)});
  return next;
}

bool PaddedAxes::try_propagate() {
  const Status sound = propagate();
  if (!sound) builder_.error(sound.error().message);
  return sound.has_value();
}

Tensor PaddedAxes::masked_softmax(Tensor x, int axis,
                                  const std::function<Tensor(Tensor)>& softmax) {
  if (!try_propagate() || !is_padded(x, axis)) return softmax(x);
  const Tensor y = softmax(masked(x, axis, scalar::fold_identity(Op::Max, x.dtype())));
  accept(y, {.is_length_dependent = mark(x).is_length_dependent,
             .axes = mark(x).axes,
             .zero_padded = bit(axis)});
  return y;
}

Tensor PaddedAxes::masked(Tensor x, int axis, scalar::Number value) {
  Shape positions(x.shape().size(), 1);
  positions[axis] = capacity_;
  const Tensor is_valid = builder_.iota(std::move(positions), axis) < total_length_;
  return select(is_valid, x, builder_.full({}, value));
}

Tensor PaddedAxes::with_zero_padding(Tensor x, int axis) {
  Mark as = mark(x);
  if ((as.axes & ~as.zero_padded & bit(axis)) == 0) return x;
  const Tensor zero_padded = masked(x, axis, scalar::Number::from(x.dtype(), 0));
  as.zero_padded |= bit(axis);
  as.is_linear = false;
  accept(zero_padded, as);
  return zero_padded;
}

void PaddedAxes::zero_padding(Tensor& x, int x_axis, Tensor& y, int y_axis) {
  if (!try_propagate()) return;
  x = with_zero_padding(x, x_axis);
  y = with_zero_padding(y, y_axis);
}

Tensor PaddedAxes::masked_reduce(Op op, Tensor x, const std::vector<int>& axes) {
  if (!try_propagate()) return x;
  Tensor masked_x = x;
  for (const int axis : axes) {
    if (is_padded(x, axis)) masked_x = masked(masked_x, axis, scalar::fold_identity(op, x.dtype()));
  }
  const bool is_masked = masked_x.value != x.value;
  const Tensor result = builder_.reduce(op, masked_x, axes, true);
  if (is_masked) accept_reduced(result, x, axes);
  return result;
}

std::optional<PaddedAxes::Sizes> PaddedAxes::sizes_of(Tensor x, int64_t begin, int64_t end) {
  const Mark of = mark(x);
  const Shape shape = x.shape();
  LinearIntegers nominal;
  std::vector<Tensor> sizes;
  for (auto axis = static_cast<int>(begin); axis < end; ++axis) {
    const int64_t size = shape[axis];
    const bool is_past = axis == of.past_axis;
    const bool is_length_dependent = is_past || (of.axes & bit(axis)) != 0;
    nominal.values.push_back(is_past ? size - new_length_ : size);
    nominal.steps.push_back(is_length_dependent ? 1 : 0);
    if (is_length_dependent) {
      const Tensor number = builder_.cast(is_past ? past_length_ : total_length_, DType::I64);
      sizes.push_back(builder_.reshape(number, {1}));
    } else {
      sizes.push_back(builder_.full({1}, scalar::Number::integer(DType::I64, size)));
    }
  }
  if (std::ranges::count(nominal.steps, 1) == 0) return std::nullopt;
  const Tensor all = ops::concatenate(sizes, 0);
  accept_length_dependent(all);
  return Sizes{all, std::move(nominal)};
}

Result<bool> PaddedAxes::is_total_length(const LinearIntegers& sizes, size_t k) const {
  if (sizes.steps[k] == 0) return false;
  if (sizes.steps[k] == 1 && sizes.values[k] == capacity_) return true;
  return fail("a size depends on the valid length of a padded axis, but is not equal to it");
}

Tensor PaddedAxes::with_padded_axes(Tensor x, const std::vector<int>& axes) {
  if (axes.empty() || !x.valid()) return x;
  std::vector<int> all(x.shape().size());
  std::iota(all.begin(), all.end(), 0);
  const Tensor copy = builder_.reindex(x, graph::AffineMap::project(x.rank(), all), x.shape());
  if (!try_propagate()) return copy;
  Mark& as = marks_[copy.value];
  for (const int axis : axes) {
    as.axes |= bit(axis);
    as.fixed &= ~bit(axis);
  }
  return copy;
}

void PaddedAxes::accept_reduced(Tensor x, Tensor like, const std::vector<int>& axes) {
  Mark part = mark(like);
  part.is_length_dependent = true;
  part.is_linear = false;
  for (const int axis : axes) {
    part.axes &= ~bit(axis);
    part.zero_padded &= ~bit(axis);
  }
  accept(x, part);
}

void PaddedAxes::accept(Tensor x, Mark as) {
  accept();
  if (x.valid()) marks_[x.value] = as;
}

}  // namespace lathe::onnx
