#include "lathe/import/onnx/counted_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/ops/attention.h"
#include "lathe/ops/movement.h"

namespace lathe::onnx {

using graph::DType;
using graph::Kind;
using graph::Node;
using graph::Op;

namespace {

// The axis of `to` that axis `axis` of `from` is, where all elements stay in order; -1: part of
// one, or there are none.
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

// The axis of a result of `shape` along which an operand's index `d` runs alone and wholly.
int axis_of(const graph::AffineMap& map, const Shape& shape, int d, int64_t size) {
  for (size_t k = 0; k < map.axes.size(); ++k) {
    if (map.axes[k].single_dimension() == d && shape[k] == size) return static_cast<int>(k);
  }
  return -1;
}

// Whether a node of operands of which one grows evenly does, too. Casts may cut fractions off, and
// short integers are cut themselves.
bool is_even_of(const Node& node, int64_t counted) {
  switch (node.kind) {
    case Kind::Cast:
      return node.dtype == DType::I32 || node.dtype == DType::I64;
    case Kind::Reshape:
    case Kind::Reindex:
    case Kind::Join:
      return true;
    case Kind::Map:
      return node.op == Op::Add || node.op == Op::Sub || node.op == Op::Neg ||
             (node.op == Op::Mul && counted == 1);
    default:
      return false;
  }
}

std::unexpected<Error> unlike() {
  return fail("has a size that is not that of rows, but happens to be that of their room");
}

std::unexpected<Error> mixed() { return fail("mixes rows that are kept with room for others"); }

}  // namespace

CountedRows::CountedRows(graph::Builder& builder, Tensor earlier, int64_t room, int64_t fresh)
    : builder_(builder),
      earlier_(earlier),
      all_(fresh == 0
               ? earlier
               : earlier + builder.full({}, scalar::Number::of(static_cast<int32_t>(fresh)))),
      room_(room),
      fresh_(fresh) {
  follows();
}

CountedRows::Mark CountedRows::mark(Tensor x) const {
  const auto at = static_cast<size_t>(x.value.id);
  return x.builder == &builder_ && x.valid() && at < marks_.size() ? marks_[at] : Mark{};
}

bool CountedRows::is_marked(Tensor x) const {
  const Mark of = mark(x);
  return of.is_state || of.is_counted || of.axes != 0;
}

void CountedRows::add_state(Tensor state) { accept(state, {.is_state = true}); }

void CountedRows::add_input(Tensor x, const std::vector<int>& axes) {
  Mark input;
  for (const int axis : axes) input.axes |= bit(axis);
  accept(x, input);
}

Status CountedRows::follow() {
  const graph::Graph& graph = builder_.graph();
  while (marks_.size() < graph.nodes.size()) {
    const Node& node = graph.nodes[marks_.size()];
    bool has_rows = false, is_fixed = false, is_even = true;
    int64_t counted = 0;
    for (const graph::Value each : node.operands) {
      const Mark& of = mark(each);
      if (of.is_state) return fail("reads kept rows before the new ones are behind them");
      has_rows = has_rows || of.axes != 0;
      is_fixed = is_fixed || of.fixed != 0;
      counted += of.is_counted ? 1 : 0;
      is_even = is_even && (!of.is_counted || of.is_even);
    }
    Mark next = given(node);
    if (has_rows || is_fixed) {
      LATHE_ASSIGN_OR_RETURN(next, moved(node));
    }
    next.is_counted = counted > 0 || (has_rows && next.axes == 0);
    const bool picks = (node.kind == Kind::Gather && !mark(node.operands[1]).is_counted) ||
                       (node.op == Op::Select && !mark(node.operands[0]).is_counted);
    next.is_even = is_even && counted > 0 && (picks || is_even_of(node, counted)) &&
                   !scalar::is_float(node.dtype);
    marks_.push_back(next);
  }
  return {};
}

// What the model and its caller give has fixed sizes, but for one number broadcast.
CountedRows::Mark CountedRows::given(const Node& node) const {
  Mark mark;
  const bool is_one =
      node.kind == Kind::Constant && std::ssize(node.data) == scalar::size_of(node.dtype);
  if (is_one || (node.kind != Kind::Constant && node.kind != Kind::Input)) return mark;
  for (size_t axis = 0; axis < node.shape.size(); ++axis) {
    if (node.shape[axis] == room_) mark.fixed |= bit(static_cast<int>(axis));
  }
  return mark;
}

// Where the rows of its operands lie in what a node gives.
Result<CountedRows::Mark> CountedRows::moved(const Node& node) const {
  Mark next;
  // Each axis of rows of operand k becomes `axis(…)` of the result.
  const auto move = [&](size_t k, auto axis) -> Status {
    const Mark& of = mark(node.operands[k]);
    const int rank = static_cast<int>(builder_.graph()[node.operands[k]].shape.size());
    for (int from = 0; from < rank; ++from) {
      const bool is_row = (of.axes & bit(from)) != 0;
      if (!is_row && (of.fixed & bit(from)) == 0) continue;
      const int to = axis(from);
      if (to < 0 && is_row) return mixed();
      if (to < 0) continue;
      (is_row ? next.axes : next.fixed) |= bit(to);
      if ((of.zeros & bit(from)) != 0) next.zeros |= bit(to);
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
      next.zeros = 0;
      break;
    case Kind::Reshape:
      LATHE_TRY(move(0, [&](int axis) { return reshaped(from, node.shape, axis); }));
      break;
    case Kind::Reindex:
      LATHE_TRY(move(0, [&](int axis) {
        const int d = node.map.axes[static_cast<size_t>(axis)].single_dimension();
        return d >= 0 && node.shape[static_cast<size_t>(d)] == from[static_cast<size_t>(axis)] ? d
                                                                                               : -1;
      }));
      break;
    case Kind::Join:
      for (size_t k = 0; k < node.operands.size(); ++k) {
        const Shape& shape = builder_.graph()[node.operands[k]].shape;
        LATHE_TRY(move(k, [&](int axis) {
          return axis_of(node.maps[k], node.shape, axis, shape[static_cast<size_t>(axis)]);
        }));
      }
      next.zeros = 0;
      break;
    case Kind::Gather:
      LATHE_TRY(move(0, [&](int axis) { return axis == node.axes[0] ? -1 : axis; }));
      LATHE_TRY(move(1, same));
      next.zeros = 0;
      break;
    case Kind::Scan:
      if (node.reverse && (mark(node.operands[0]).axes & bit(node.axes[0])) != 0) return mixed();
      LATHE_TRY(move(0, same));
      next.zeros = 0;
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
  if ((next.axes & next.fixed) != 0) return unlike();
  return next;
}

Result<CountedRows::Mark> CountedRows::contracted(const Node& node) const {
  const graph::Contraction& sum = node.contraction;
  uint64_t rows = 0, fixed = 0, others = 0;  // dimensions, `others`: rows that may not be zero
  for (const auto& [operand, map] : {std::pair{0, &sum.lhs}, {1, &sum.rhs}}) {
    const Mark& of = mark(node.operands[static_cast<size_t>(operand)]);
    const Shape& shape = builder_.graph()[node.operands[static_cast<size_t>(operand)]].shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const bool is_row = (of.axes & bit(static_cast<int>(axis))) != 0;
      if (!is_row && (of.fixed & bit(static_cast<int>(axis))) == 0) continue;
      const int d = map->axes[axis].single_dimension();
      const bool is_whole = d >= 0 && sum.extents[static_cast<size_t>(d)] == shape[axis];
      if (!is_whole && is_row) return mixed();
      if (!is_whole) continue;
      (is_row ? rows : fixed) |= uint64_t{1} << d;
      if (!is_row) continue;
      const bool is_zero = (of.zeros & bit(static_cast<int>(axis))) != 0;
      if (!is_zero) others |= uint64_t{1} << d;
    }
  }
  if ((rows & fixed) != 0) return unlike();
  Mark next;
  for (; fixed != 0; fixed &= fixed - 1) {
    const int d = std::countr_zero(fixed);
    const int axis = axis_of(sum.out, node.shape, d, sum.extents[static_cast<size_t>(d)]);
    if (axis >= 0) next.fixed |= bit(axis);
  }
  for (; rows != 0; rows &= rows - 1) {
    const int d = std::countr_zero(rows);
    const bool is_zero = (others >> d & 1) == 0;
    const int axis = axis_of(sum.out, node.shape, d, sum.extents[static_cast<size_t>(d)]);
    if (axis < 0 && !is_zero) return mixed();
    if (axis < 0) continue;
    next.axes |= bit(axis);
    if (is_zero) next.zeros |= bit(axis);
  }
  return next;
}

Tensor CountedRows::written(Tensor state, Tensor fresh) {
  const bool fits = fresh.rank() == 4 && fresh.shape()[kCacheAxis] == fresh_;
  if (!fits) return builder_.error("puts another number of rows behind the kept ones");
  const Tensor next = ops::with_rows(state, fresh, earlier_, true);
  accept(next, {.axes = bit(kCacheAxis)});
  return next;
}

bool CountedRows::follows() {
  const Status sound = follow();
  if (!sound) builder_.error(sound.error().message);
  return sound.has_value();
}

Tensor CountedRows::weights(Tensor x, int axis, const std::function<Tensor(Tensor)>& softmax) {
  if (!follows() || !has_rows(x, axis)) return softmax(x);
  const Tensor y = softmax(filled(x, axis, scalar::fold_identity(Op::Max, x.dtype())));
  accept(y, {.is_counted = mark(x).is_counted, .axes = mark(x).axes, .zeros = bit(axis)});
  return y;
}

Tensor CountedRows::filled(Tensor x, int axis, scalar::Number value) {
  Shape along(x.shape().size(), 1);
  along[static_cast<size_t>(axis)] = room_;
  const Tensor counts = builder_.iota(std::move(along), axis) < all_;
  return select(counts, x, builder_.full({}, value));
}

Tensor CountedRows::cleared(Tensor x, int axis) {
  Mark as = mark(x);
  if ((as.axes & ~as.zeros & bit(axis)) == 0) return x;
  const Tensor zeros = filled(x, axis, scalar::Number::from(x.dtype(), 0));
  as.zeros |= bit(axis);
  as.is_even = false;
  accept(zeros, as);
  return zeros;
}

void CountedRows::clear(Tensor& x, int x_axis, Tensor& y, int y_axis) {
  if (!follows()) return;
  x = cleared(x, x_axis);
  y = cleared(y, y_axis);
}

Tensor CountedRows::folded(Op op, Tensor x, const std::vector<int>& axes) {
  if (!follows()) return x;
  Tensor seen = x;
  for (const int axis : axes) {
    if (has_rows(x, axis)) seen = filled(seen, axis, scalar::fold_identity(op, x.dtype()));
  }
  const bool is_part = seen.value != x.value;
  const Tensor result = builder_.reduce(op, seen, axes, true);
  if (is_part) accept_part(result, x, axes);
  return result;
}

std::optional<CountedRows::Sizes> CountedRows::sizes(Tensor x, int64_t begin, int64_t end) {
  const Mark of = mark(x);
  const Shape shape = x.shape();
  Counted said;
  std::vector<Tensor> sizes;
  for (auto axis = static_cast<int>(begin); axis < end; ++axis) {
    const int64_t size = shape[static_cast<size_t>(axis)];
    const bool is_past = of.is_state && axis == kCacheAxis;
    const bool is_counted = is_past || (of.axes & bit(axis)) != 0;
    said.values.push_back(is_past ? size - fresh_ : size);
    said.steps.push_back(is_counted ? 1 : 0);
    if (is_counted) {
      const Tensor number = builder_.cast(is_past ? earlier_ : all_, DType::I64);
      sizes.push_back(builder_.reshape(number, {1}));
    } else {
      sizes.push_back(builder_.full({1}, scalar::Number::integer(DType::I64, size)));
    }
  }
  if (std::ranges::count(said.steps, 1) == 0) return std::nullopt;
  const Tensor joined = ops::concatenate(sizes, 0);
  accept_counted(joined);
  return Sizes{joined, std::move(said)};
}

Result<bool> CountedRows::is_all(const Counted& sizes, size_t k) const {
  if (sizes.steps[k] == 0) return false;
  if (sizes.steps[k] == 1 && sizes.values[k] == room_) return true;
  return fail("a size follows from how many rows there are, but is not that of all");
}

Tensor CountedRows::along(Tensor x, const std::vector<int>& axes) {
  if (axes.empty() || !x.valid()) return x;
  std::vector<int> all(x.shape().size());
  std::iota(all.begin(), all.end(), 0);
  const Tensor own = builder_.reindex(x, graph::AffineMap::project(x.rank(), all), x.shape());
  if (!follows()) return own;
  Mark& as = marks_[static_cast<size_t>(own.value.id)];
  for (const int axis : axes) {
    as.axes |= bit(axis);
    as.fixed &= ~bit(axis);
  }
  return own;
}

void CountedRows::accept_part(Tensor x, Tensor like, const std::vector<int>& axes) {
  Mark part = mark(like);
  part.is_counted = true;
  part.is_even = false;
  for (const int axis : axes) {
    part.axes &= ~bit(axis);
    part.zeros &= ~bit(axis);
  }
  accept(x, part);
}

void CountedRows::accept(Tensor x, Mark as) {
  accept();
  if (x.valid()) marks_[static_cast<size_t>(x.value.id)] = as;
}

}  // namespace lathe::onnx
