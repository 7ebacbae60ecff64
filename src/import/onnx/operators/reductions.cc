// Operators of ONNX along axes: reductions, ArgMax, softmax, cumulative sums.
#include "lathe/import/onnx/operators/reductions.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::onnx {

Tensor reduced(Call& call, Op op, Tensor x, const std::vector<int>& axes, bool keep_dims) {
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows == nullptr) return x.builder->reduce(op, x, axes, keep_dims);
  const Tensor all = rows->masked_reduce(op, x, axes);
  if (keep_dims || !all.valid()) return all;
  Shape shape;
  for (int axis = 0; axis < all.rank(); ++axis) {
    const bool is_folded = std::ranges::find(axes, axis) != axes.end();
    if (!is_folded) shape.push_back(all.shape()[axis]);
  }
  return all.builder->reshape(all, shape);
}

Tensor softmax_along(Call& call, Tensor x, int axis, const std::function<Tensor(Tensor)>& softmax) {
  PaddedAxes* rows = call.tracer().padded_axes();
  return rows == nullptr ? softmax(x) : rows->masked_softmax(x, axis, softmax);
}

namespace rows {

namespace {

// The mean along axes in floats.
Tensor mean_along(Call& call, Tensor x, const std::vector<int>& axes, bool keep_dims) {
  PaddedAxes* rows = call.tracer().padded_axes();
  Tensor count;
  for (const int axis : axes) {
    if (rows == nullptr || !rows->is_padded(x, axis)) continue;
    const Tensor size = cast_like(rows->total_length(), x);
    count = count.valid() ? count * size : size;
  }
  if (!count.valid()) return graph::mean(x, axes, keep_dims);
  double others = 1;
  for (const int axis : axes) {
    if (!rows->is_padded(x, axis)) others *= static_cast<double>(x.shape()[axis]);
  }
  return reduced(call, Op::Add, x, axes, keep_dims) / (count * number_like(x, others));
}

std::vector<int> all_axes(int rank) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// The axes that are folded, ascending, each once.
Result<std::vector<int>> folded_axes(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto axes_input, call.moved("axes"));
  if (!axes_input || axes_input->empty()) {
    const bool is_noop = call.int_of("noop_with_empty_axes", 0) != 0;
    return is_noop ? std::vector<int>{} : all_axes(call.rank(0));
  }
  std::vector<bool> is_folded(call.rank(0));
  for (const int64_t each : *axes_input) {
    LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(each, call.rank(0)));
    is_folded[axis] = true;
  }
  std::vector<int> axes;
  for (size_t k = 0; k < is_folded.size(); ++k) {
    if (is_folded[k]) axes.push_back(static_cast<int>(k));
  }
  return axes;
}

// log(sum of e^x), shifted by the maximum so that nothing overflows.
Tensor log_sum_exp(Tensor x, const std::vector<int>& axes, bool keep_dims) {
  Builder& builder = *x.builder;
  if (axes.empty()) return x;
  const Tensor highest = detach(builder.reduce(Op::Max, x, axes, true));
  const Tensor is_finite =
      absolute(highest) < number_like(x, std::numeric_limits<double>::infinity());
  const Tensor by = select(is_finite, highest, zero(highest));
  const Tensor rest = log_of(builder.reduce(Op::Add, exp_of(x - by), axes, keep_dims));
  return rest + builder.reshape(by, Shape(rest.shape()));
}

}  // namespace

Result<Values> reduce(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const std::vector<int> axes, folded_axes(call));
  const bool keep_dims = call.int_of("keepdims", 1) != 0;
  const std::string_view op = call.op().substr(std::string_view("Reduce").size());
  const Tensor x = call.tensor(0);
  const auto fold = [&](Op by, Tensor y) { return reduced(call, by, y, axes, keep_dims); };
  if (x.dtype() == DType::Bool) {
    if (op == "Max" || op == "Min") return Values{fold(op == "Max" ? Op::Or : Op::And, x)};
    return call.reject("does not support bool; cast it");
  }
  if (op == "Sum") return Values{fold(Op::Add, x)};
  if (op == "Max") return Values{fold(Op::Max, x)};
  if (op == "Min") return Values{fold(Op::Min, x)};
  if (op == "Prod") return Values{fold(Op::Mul, x)};
  if (op == "L1") return Values{fold(Op::Add, absolute(x))};
  if (op == "SumSquare" && !scalar::is_half(x.dtype())) return Values{fold(Op::Add, x * x)};
  if (op == "Mean" && scalar::is_integer(x.dtype())) {
    if (call.tracer().depends_on_length(call.operand(0))) return call.reject_length();
    const Tensor total = fold(Op::Add, x);
    const int64_t results = graph::element_count(total.shape());
    const int64_t count = results == 0 ? 1 : graph::element_count(x.shape()) / results;
    return Values{total / total.builder->full({}, scalar::Number::integer(x.dtype(), count))};
  }
  const Tensor wide = in_floats(x);
  Tensor result;
  if (op == "Mean") {
    result = axes.empty() ? wide : mean_along(call, wide, axes, keep_dims);
  } else if (op == "SumSquare") {
    result = fold(Op::Add, wide * wide);
  } else if (op == "L2") {
    result = axes.empty() ? absolute(wide) : sqrt(fold(Op::Add, wide * wide));
  } else if (op == "LogSum") {
    result = log_of(fold(Op::Add, wide));
  } else if (op == "LogSumExp") {
    result = log_sum_exp(wide, axes, keep_dims);
  } else {
    return call.reject("is no supported reduction");
  }
  return Values{cast_like(result, x)};
}

Result<Values> arg_extreme(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", 0), call.rank(0)));
  const bool is_max = call.op() == "ArgMax";
  const bool last = call.int_of("select_last_index", 0) != 0;
  const Tensor x = call.tensor(0);
  Shape reduced_shape = x.shape();
  const int64_t size = reduced_shape[axis];
  if (size == 0) {
    return call.reject(
        concat("axis ", axis, " of shape ", bracketed(reduced_shape), " has no elements"));
  }
  const Tensor from = last ? ops::reverse(x, std::vector<int>{axis}) : x;
  const Tensor best = x.builder->reduce(is_max ? Op::Max : Op::Min, from, {axis}, true);
  Tensor hit = from == best;
  // As in NumPy the first NaN, where there is one; nothing is equal to it.
  if (scalar::is_float(x.dtype())) hit = map(Op::Or, hit, map(Op::Ne, from, from));
  Tensor index = ops::first_true_index(hit, axis);
  if (last) index = number_like(index, static_cast<double>(size - 1)) - index;
  reduced_shape[axis] = 1;
  if (call.int_of("keepdims", 1) != 0) index = x.builder->reshape(index, reduced_shape);
  return Values{cast_to(index, DType::I64)};
}

// Before version 13 the axis parts the tensor into rows and columns; then it is an axis.
Result<Values> softmax(Call& call) {
  const bool is_row = call.version() < 13;
  const int rank = call.rank(0);
  const int64_t axes_input = call.int_of("axis", is_row ? 1 : -1);
  LATHE_ASSIGN_OR_RETURN(const int axis,
                         call.axis(axes_input, is_row && axes_input == rank ? rank + 1 : rank));
  const auto computed = [&](Tensor x) {
    Builder& builder = *x.builder;
    const Shape shape = x.shape();
    int along = axis;
    Tensor rows = x;
    if (is_row) {
      int64_t count = 1;
      for (int k = 0; k < axis; ++k) count *= shape[k];
      rows = builder.reshape(x, {count, count == 0 ? 0 : graph::element_count(shape) / count});
      along = 1;
    }
    const Tensor wide = in_floats(rows);
    Tensor result;
    if (call.op() == "Hardmax") {
      const Tensor best = ops::argmax(rows, along);
      Shape reduced_shape = rows.shape();
      const Tensor index = builder.iota(reduced_shape, along);
      reduced_shape[along] = 1;
      result = cast_to(index == builder.reshape(best, reduced_shape), wide.dtype());
    } else {
      const Tensor shifted = wide - detach(max(wide, {along}, true));
      const Tensor power = exp_of(shifted);
      const Tensor total = sum(power, {along}, true);
      result = call.op() == "Softmax" ? power * (1.0f / total) : shifted - log_of(total);
    }
    return cast_like(builder.reshape(result, shape), x);
  };
  const Tensor x = call.tensor(0);
  const bool has_weights = call.op() == "Softmax" && (!is_row || axis == rank - 1);
  return Values{has_weights ? softmax_along(call, x, axis, computed) : computed(x)};
}

Result<Values> running_fold(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int64_t axes_input, call.integer(1));
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(axes_input, call.rank(0)));
  const Op op = call.op() == "CumSum" ? Op::Add : Op::Mul;
  const Tensor x = call.tensor(0);
  return Values{x.builder->scan(op, x, axis, call.int_of("exclusive", 0) != 0,
                                call.int_of("reverse", 0) != 0)};
}

}  // namespace rows

}  // namespace lathe::onnx
