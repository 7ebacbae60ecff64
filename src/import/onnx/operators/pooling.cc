// Pooling operators of ONNX over images [n, c, spatial…], as reductions of channels-last windows.
#include <algorithm>
#include <limits>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/operators/windows.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/windows/window_view.h"

namespace lathe::onnx {

namespace {

Result<Window> pool_window(Call& call, const Shape& in) {
  if (in.size() < 3 || in.size() > 5) {
    return call.reject(
        concat("x ", bracketed(in), " must be [n, c, spatial…] with 1 to 3 spatial ", "axes"));
  }
  return window_of(call, spatial_sizes(in), call.ints_of("kernel_shape"));
}

Result<ops::Windows> view_of(Call& call, Tensor last, const Window& window) {
  return ops::windows_of(call.op(), last, window.size, window.options);
}

// The number of elements of each window, as [1, out…, 1]: those inside x, or inside x and what is
// padded around it.
Tensor counts(Builder& builder, DType dtype, const Window& window, bool with_padding) {
  Tensor all;
  for (size_t i = 0; i < window.in.size(); ++i) {
    const int64_t before = window.options.before[i];
    const int64_t least = with_padding ? -before : 0;
    const int64_t end = window.in[i] + (with_padding ? window.after[i] : 0);
    std::vector<double> sizes;
    for (int64_t o = 0; o < window.out[i]; ++o) {
      const int64_t first = o * window.options.strides[i] - before;
      const int64_t step = window.options.dilations[i];
      const int64_t begin = std::max<int64_t>(0, (least - first + step - 1) / step);
      const int64_t last = (end - 1 - first) / step;
      const bool is_outside = first > end - 1;
      const int64_t count = is_outside ? 0 : std::min(last, window.size[i] - 1) - begin + 1;
      sizes.push_back(static_cast<double>(std::max<int64_t>(count, 1)));
    }
    Shape shape(window.in.size() + 2, 1);
    shape[i + 1] = window.out[i];
    const Tensor along = numbers(builder, dtype, shape, sizes);
    all = i == 0 ? along : all * along;
  }
  return all;
}

std::vector<int> spatial_axes(Tensor x) {
  std::vector<int> axes(std::max(x.rank() - 2, 0));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

// The linear offset of every element of x, as I32 of its shape: in the tensor [n, c, spatial…],
// spatial axes in reverse where `by_columns`.
Tensor linear_offsets(Builder& builder, const Shape& last, bool by_columns) {
  const size_t spatial = last.size() - 2;
  std::vector<int64_t> steps(last.size(), 1);
  int64_t step = 1;
  for (size_t k = 0; k < spatial; ++k) {
    const size_t axis = by_columns ? 1 + k : spatial - k;
    steps[axis] = step;
    step *= last[axis];
  }
  steps.back() = step;
  steps.front() = step * last.back();
  Tensor all;
  for (size_t axis = 0; axis < last.size(); ++axis) {
    Shape along(last.size(), 1);
    along[axis] = last[axis];
    const Tensor index = builder.iota(along, static_cast<int>(axis));
    const Tensor term =
        index * builder.full({}, scalar::Number::of(static_cast<int32_t>(steps[axis])));
    all = axis == 0 ? term : all + term;
  }
  return builder.broadcast_to(all, last);
}

// |x|^p folded over the axes, and the root of it.
template <class Fold>
Tensor norm(Tensor x, double p, Fold fold) {
  if (p == 1) return fold(absolute(x));
  if (p == 2) return sqrt(fold(x * x));
  const Tensor total = fold(power(absolute(x), number_like(x, p)));
  return power(total, number_like(total, 1 / p));
}

}  // namespace

Result<Tensor> average_pooled(Call& call, Tensor x) {
  LATHE_ASSIGN_OR_RETURN(const Window window, pool_window(call, Shape(x.shape())));
  const Tensor last = channels_last(x);
  LATHE_ASSIGN_OR_RETURN(const ops::Windows windows, view_of(call, last, window));
  const bool with_padding = call.int_of("count_include_pad", 0) != 0;
  // That of 8 bits counts what no padding reaches, too.
  const bool counts_padding = with_padding && call.op() != "AveragePool";
  const Tensor count = counts_padding
                           ? number_like(x, static_cast<double>(graph::element_count(window.size)))
                           : counts(*x.builder, x.dtype(), window, with_padding);
  return channels_first(sum(windows.view(last), windows.axes) * (1.0f / count));
}

namespace rows {

Result<Values> nhwc_max_pool(Call& call) {
  const Tensor x = channels_first(call.tensor(0));
  LATHE_ASSIGN_OR_RETURN(const Window window, pool_window(call, Shape(x.shape())));
  const Tensor last = channels_last(x);
  LATHE_ASSIGN_OR_RETURN(ops::Windows windows, view_of(call, last, window));
  const Tensor seen = windows.view(ops::surrounded(last, windows));
  return Values{max(seen, windows.axes)};
}

Result<Values> max_pool(Call& call) {
  const Tensor x = call.tensor(0);
  LATHE_ASSIGN_OR_RETURN(const Window window, pool_window(call, Shape(x.shape())));
  const Tensor last = channels_last(x);
  const Shape shape = last.shape();
  LATHE_ASSIGN_OR_RETURN(ops::Windows windows, view_of(call, last, window));
  ops::Windows inside = windows;
  const Tensor seen = windows.view(ops::surrounded(last, windows));
  const Tensor best = x.builder->exclusive(max(seen, windows.axes));
  if (!call.has_output(1)) return Values{channels_first(best)};
  // The offset of the first maximum or NaN of each window; `nowhere` outside of x.
  Builder& builder = *x.builder;
  const int32_t nowhere = std::numeric_limits<int32_t>::max();
  const Tensor all = builder.full(shape, scalar::Number::of(true));
  const bool by_columns = call.int_of("storage_order", 0) != 0;
  Shape spread = windows.shape;
  for (const int axis : windows.axes) spread[axis] = 1;
  Tensor hit = seen == builder.reshape(best, spread);
  if (scalar::is_float(x.dtype())) hit = map(Op::Or, hit, map(Op::Ne, seen, seen));
  const Tensor there = map(Op::And, hit, inside.view(all));
  const Tensor index = inside.view(linear_offsets(builder, shape, by_columns));
  const Tensor first = builder.reduce(
      Op::Min, select(there, index, builder.full({}, scalar::Number::of(nowhere))), windows.axes);
  return Values{channels_first(best), cast_to(channels_first(first), DType::I64)};
}

Result<Values> average_pool(Call& call) {
  const Tensor x = call.tensor(0);
  LATHE_ASSIGN_OR_RETURN(const Tensor y, average_pooled(call, in_floats(x)));
  return Values{cast_like(y, x)};
}

Result<Values> lp_pool(Call& call) {
  const Tensor x = call.tensor(0);
  LATHE_ASSIGN_OR_RETURN(const Window window, pool_window(call, Shape(x.shape())));
  const Tensor last = in_floats(channels_last(x));
  LATHE_ASSIGN_OR_RETURN(const ops::Windows windows, view_of(call, last, window));
  const Tensor y = norm(last, static_cast<double>(call.int_of("p", 2)),
                        [&](Tensor each) { return sum(windows.view(each), windows.axes); });
  return Values{cast_like(channels_first(y), x)};
}

Result<Values> global_pool(Call& call) {
  const Tensor x = call.tensor(0);
  const std::vector<int> axes = spatial_axes(x);
  if (axes.empty()) return call.reject("x must be [n, c, spatial…]");
  if (call.op() == "GlobalMaxPool") return Values{x.builder->exclusive(max(x, axes, true))};
  const Tensor wide = in_floats(x);
  if (call.op() == "GlobalAveragePool") return Values{cast_like(graph::mean(wide, axes, true), x)};
  const Tensor y = norm(wide, static_cast<double>(call.int_of("p", 2)),
                        [&](Tensor each) { return sum(each, axes, true); });
  return Values{cast_like(y, x)};
}

// Scatters elements to the indices of MaxPool; zero elsewhere.
Result<Values> max_unpool(Call& call) {
  const Tensor x = call.tensor(0), indices = call.tensor(1);
  const Shape in = x.shape();
  if (in.size() < 3) return call.reject("x must be [n, c, spatial…]");
  const size_t count = in.size() - 2;
  const Shape size = call.ints_of("kernel_shape");
  const Shape strides = call.ints_of("strides", Shape(count, 1));
  const Shape pads = call.ints_of("pads", Shape(2 * count, 0));
  if (size.size() != count || strides.size() != count || pads.size() != 2 * count) {
    return call.reject(
        concat("kernel_shape, strides and pads must have numbers for ", count, " spatial axes"));
  }
  const auto is_small = [](int64_t each) { return each >= 0 && each < int64_t{1} << 31; };
  if (!std::ranges::all_of(size, is_small) || !std::ranges::all_of(strides, is_small) ||
      !std::ranges::all_of(pads, is_small)) {
    return call.reject("kernel_shape, strides and pads must be numbers of at least 0");
  }
  Shape natural{in[0], in[1]};
  for (size_t k = 0; k < count; ++k) {
    natural.push_back((in[k + 2] - 1) * strides[k] + size[k] - pads[k] - pads[count + k]);
  }
  Shape out = natural;
  if (call.has(2)) {
    LATHE_ASSIGN_OR_RETURN(out, call.integers(2));
    if (out.size() != in.size()) return call.reject("output_shape must have a size for each axis");
  }
  if (std::ranges::any_of(natural, [](int64_t each) { return each < 0; })) {
    return call.reject(concat("x ", bracketed(in), " would become ", bracketed(natural)));
  }
  Builder& builder = *x.builder;
  const int64_t elements = graph::element_count(natural);
  const Tensor flat = builder.reshape(x, {-1});
  const Tensor index = builder.reshape(cast_to(indices, DType::I32), {-1});
  const Tensor back = builder.reshape(builder.scatter(flat, index, 0, {elements}), natural);
  if (out == natural) return Values{back};
  ops::Pairs grown;
  for (size_t k = 0; k < out.size(); ++k) grown.emplace_back(0, out[k] - natural[k]);
  return Values{ops::pad(back, grown, 0)};
}

}  // namespace rows

}  // namespace lathe::onnx
