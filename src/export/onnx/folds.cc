// Reductions, scans, sorts, and reading and adding by indices.
#include <algorithm>
#include <limits>

#include "lathe/base/text.h"
#include "lathe/export/onnx/emitter.h"
#include "lathe/export/onnx/maps.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

using graph::Kind;
using scalar::Number;
using scalar::Op;

namespace {

// The reduction operator, and the type that runtimes support for it.
std::string_view reduction_of(Op op) {
  switch (op) {
    case Op::Add:
      return "ReduceSum";
    case Op::Mul:
      return "ReduceProd";
    case Op::Max:
    case Op::Or:
      return "ReduceMax";
    default:
      return "ReduceMin";
  }
}

DType folded_type(Op op, DType dtype) {
  if (dtype == DType::Bool) return DType::I32;
  if (dtype == DType::U32) return DType::I64;
  const bool wraps = op == Op::Add || op == Op::Mul;
  return dtype == DType::U64 && wraps ? DType::I64 : dtype;
}

// u64 in the order of i64, and back.
Tensor reordered(Writer& w, const Tensor& x, DType dtype) {
  const Tensor low = w.number(Number::lowest(DType::I64));
  if (dtype == DType::I64) return w.map("Add", {w.cast(x, dtype), low});
  return w.cast(w.map("Add", {x, low}), dtype);
}

}  // namespace

PermutedTensor emit_reduce(Emitter& e, const graph::Node& node) {
  const Value from = node.operands[0];
  const graph::Node& x = e[from];
  if (element_count(x.shape) == 0) {
    const Number identity = cast(scalar::fold_identity(node.op, x.dtype), node.dtype);
    if (element_count(node.shape) > 0) return PermutedTensor::plain(e.writer.number(identity));
    return PermutedTensor::plain(e.writer.constant(node.dtype, node.shape, SharedBytes()));
  }
  if (auto pool = emit_pool(e, node)) return *std::move(pool);
  const PermutedTensor& permuted = e.tensor_of(from);
  const int rank = e.rank_of(from);
  const std::vector<int> axes =
      permuted.stored.rank() == rank ? inverse_order(permuted.order) : identity_order(rank);
  const Tensor x_stored = e.ordered(from, axes);
  std::vector<int64_t> reduced_axes;
  std::vector<int> remaining;  // axes of the result in storage order
  for (int axis = 0; axis < rank; ++axis) {
    const auto found = std::ranges::lower_bound(node.axes, axes[axis]);
    if (found != node.axes.end() && *found == axes[axis]) {
      reduced_axes.push_back(axis);
    } else {
      remaining.push_back(axes[axis] - static_cast<int>(found - node.axes.begin()));
    }
  }
  Writer& w = e.writer;
  const bool is_ordered = x.dtype == DType::U64 && (node.op == Op::Max || node.op == Op::Min);
  const DType dtype = is_ordered ? DType::I64 : folded_type(node.op, x.dtype);
  const Tensor operand = is_ordered ? reordered(w, x_stored, dtype) : w.cast(x_stored, dtype);
  const Tensor folded = w.reduce(reduction_of(node.op), operand, reduced_axes);
  if (node.op == Op::Add && dtype == DType::F32 && !reduced_axes.empty()) {
    const auto terms = static_cast<double>(element_count(x.shape)) /
                       static_cast<double>(element_count(node.shape));
    e.means[folded.name] = {w.reduce("ReduceMean", operand, reduced_axes), terms};
  }
  return PermutedTensor::of(
      is_ordered ? reordered(w, folded, node.dtype) : w.cast(folded, node.dtype), remaining);
}

namespace {

// An index clamped to [0, size).
Tensor clamped_index(Emitter& e, Value value, const Tensor& index, int64_t size) {
  Writer& w = e.writer;
  const Kind kind = e[value].kind;
  const Tensor wide = w.cast(index, scalar::computed(index.dtype));
  const bool is_inside = kind == Kind::Sort;
  if (is_inside) return wide;
  const Tensor low = w.number(Number::from(wide.dtype, 0));
  const Tensor last = w.number(Number::integer(wide.dtype, size - 1));
  const Tensor inside = w.map("Min", {w.map("Max", {wide, low}), last});
  return inside.dtype == DType::I32 ? inside : w.cast(inside, DType::I64);
}

// The elements of a value that varies along this axis only, as a vector.
std::optional<Tensor> along_axis(Emitter& e, Value value, size_t axis) {
  const PermutedTensor& permuted = e.tensor_of(value);
  const Shape& shape = e[value].shape;
  if (!is_identity(permuted.order)) return std::nullopt;
  const size_t lead = shape.size() - permuted.stored.shape.size();
  for (size_t k = 0; k < shape.size(); ++k) {
    const int64_t size = k < lead ? 1 : permuted.stored.shape[k - lead];
    if (k == axis ? size != shape[k] : size != 1) return std::nullopt;
  }
  return e.writer.reshape(permuted.stored, {shape[axis]});
}

}  // namespace

PermutedTensor emit_gather(Emitter& e, const graph::Node& node) {
  const Value x = node.operands[0], index = node.operands[1];
  const auto axis = static_cast<size_t>(node.axes[0]);
  if (element_count(node.shape) == 0) {
    return PermutedTensor::plain(e.writer.constant(node.dtype, node.shape, SharedBytes()));
  }
  const int64_t size = e[x].shape[axis];
  if (const auto indices = along_axis(e, index, axis)) {
    const Tensor inside = clamped_index(e, index, *indices, size);
    return PermutedTensor::plain(e.writer.gather(e.plain(x), inside, node.axes[0]));
  }
  const Tensor inside = clamped_index(e, index, e.plain(index), size);
  return PermutedTensor::plain(e.writer.node("GatherElements", {e.plain(x), inside}, node.dtype,
                                             node.shape, {{"axis", int64_t{node.axes[0]}}}));
}

PermutedTensor emit_scatter(Emitter& e, const graph::Node& node) {
  const Value x = node.operands[0], index = node.operands[1];
  Writer& w = e.writer;
  const Number zero = Number::from(node.dtype, 0);
  if (element_count(e[x].shape) == 0) {
    if (element_count(node.shape) > 0) return PermutedTensor::plain(w.number(zero));
    return PermutedTensor::plain(w.constant(node.dtype, node.shape, SharedBytes()));
  }
  const Tensor inside = clamped_index(e, index, e.plain(index), node.shape[node.axes[0]]);
  const std::string reduction = node.op == Op::Add ? "add" : "max";
  return PermutedTensor::plain(
      w.node("ScatterElements", {w.full(zero, node.shape), inside, e.plain(x)}, node.dtype,
             node.shape, {{"axis", int64_t{node.axes[0]}}, {"reduction", reduction}}));
}

namespace {

// x shifted by `count` along the axis, filled with the identity.
Tensor shifted(Writer& w, const Tensor& x, int axis, int64_t count, bool reverse,
               const Number& identity) {
  std::vector<int64_t> before(x.shape.size(), 0), after = before;
  std::vector<int64_t> starts = before;
  const std::vector<int64_t> steps(x.shape.size(), 1);
  (reverse ? after : before)[axis] = count;
  if (reverse) starts[axis] = count;
  return w.slice(w.pad(x, before, after, identity), starts, steps, x.shape);
}

}  // namespace

// Sums are CumSum; other scans double the covered length at each step.
Result<PermutedTensor> emit_scan(Emitter& e, const graph::Node& node) {
  Writer& w = e.writer;
  const int axis = node.axes[0];
  const Tensor x = e.plain(node.operands[0]);
  const bool is_bool = x.dtype == DType::Bool;
  if (element_count(x.shape) == 0) return PermutedTensor::plain(x);
  if (node.op == Op::Add) {
    const DType dtype = folded_type(node.op, x.dtype);
    const Tensor along = w.number(Number::of(int64_t{axis}));
    const Tensor sums =
        w.node("CumSum", {w.cast(x, dtype), along}, dtype, x.shape,
               {{"exclusive", int64_t{node.exclusive}}, {"reverse", int64_t{node.reverse}}});
    return PermutedTensor::plain(w.cast(sums, node.dtype));
  }
  const DType dtype = is_bool ? DType::I32 : x.dtype;
  const Number identity = cast(scalar::fold_identity(node.op, x.dtype), dtype);
  const Op op = node.op == Op::And ? Op::Min : node.op == Op::Or ? Op::Max : node.op;
  Tensor folds = w.cast(x, dtype);
  const int64_t length = x.shape[axis];
  for (int64_t covered = 1; covered < length; covered *= 2) {
    const Tensor pair[] = {shifted(w, folds, axis, covered, node.reverse, identity), folds};
    LATHE_ASSIGN_OR_RETURN(folds, map(w, op, pair));
  }
  if (node.exclusive) folds = shifted(w, folds, axis, 1, node.reverse, identity);
  return PermutedTensor::plain(w.cast(folds, node.dtype));
}

namespace {

// Floats as f64 in which NaN sorts last: it becomes infinite, infinities become large.
Tensor without_nans(Writer& w, const Tensor& x, bool reverse) {
  constexpr double kLarge = 1e300;
  const double sign = reverse ? -1 : 1;
  const auto number = [&](double value) { return w.number(Number::of(sign * value)); };
  const Tensor wide = w.cast(x, DType::F64);
  const Tensor finite = w.map(reverse ? "Max" : "Min", {wide, number(kLarge)});
  const Tensor last = number(std::numeric_limits<double>::infinity());
  return w.map("Where", {w.map("IsNaN", {x}, DType::Bool), last, finite}, DType::F64);
}

}  // namespace

// TopK is stable.
PermutedTensor emit_sort(Emitter& e, const graph::Node& node) {
  Writer& w = e.writer;
  if (element_count(node.shape) == 0) {
    return PermutedTensor::plain(w.constant(node.dtype, node.shape, SharedBytes()));
  }
  Tensor x = e.plain(node.operands[0]);
  const int64_t count = node.shape[node.axes[0]];
  if (scalar::is_float(x.dtype)) x = without_nans(w, x, node.reverse);
  const std::string values = w.fresh("TopK");
  const Tensor indices{w.fresh("TopK"), DType::I64, node.shape};
  w.add({"TopK",
         {x.name, w.integers({count}).name},
         {values, indices.name},
         {{"axis", int64_t{node.axes[0]}}, {"largest", int64_t{node.reverse}}}});
  return PermutedTensor::plain(w.cast(indices, DType::I32));
}

}  // namespace lathe::onnx_export
