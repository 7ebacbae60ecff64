#include "lathe/import/onnx/operators/windows.h"

#include <algorithm>
#include <numeric>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/ops/windows/conv.h"

namespace lathe::onnx {

namespace {

constexpr int64_t kMaxSize = int64_t{1} << 31, kMaxWindows = int64_t{1} << 28;

Result<Shape> list_of(Call& call, std::string_view name, size_t count, int64_t standard,
                      int64_t least) {
  Shape list = call.ints_of(name, Shape(count, standard));
  if (list.empty()) list.assign(count, standard);
  const bool fits =
      std::ranges::all_of(list, [&](int64_t value) { return value >= least && value < kMaxSize; });
  if (list.size() == count && fits) return list;
  return call.reject(
      concat(name, ' ', bracketed(list), " must be ", count, " integers of at least ", least));
}

// Windows of one axis: their number, and the padding before and after.
struct Fit {
  int64_t out, before, after;
};

Fit same(int64_t in, int64_t span, int64_t stride, bool is_upper) {
  const int64_t out = (in + stride - 1) / stride;
  const int64_t all = std::max<int64_t>(0, (out - 1) * stride + span - in);
  const int64_t less = all / 2, more = all - less;
  return {out, is_upper ? less : more, is_upper ? more : less};
}

// With `ceil` one more, partial window may begin, which may be the only one, but not after x and
// the padding before it.
Fit padded(int64_t in, int64_t span, int64_t stride, int64_t before, int64_t after, bool ceil) {
  const int64_t free = in + before + after - span;
  if (free < (ceil ? 1 - stride : 0)) return {0, before, after};
  int64_t out = (free + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= in + before) --out;
  return {out, before, after};
}

std::vector<int> identity(int rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// A constant with its axes in this order, copied. Depthwise products iterate along
// the last one; other products pack their own copies.
Tensor reordered(Tensor x, const Shape& shape, const std::vector<int>& order) {
  Builder& builder = *x.builder;
  const graph::Node& node = builder.graph()[x.value];
  if (node.kind != graph::Kind::Constant || is_splat(node)) {
    return builder.permute(builder.reshape(x, shape), order);
  }
  const size_t rank = shape.size();
  const auto size = static_cast<size_t>(scalar::size_of(x.dtype()));
  std::vector<size_t> strides(rank, size), steps;
  for (size_t k = rank - 1; k > 0; --k) {
    strides[k - 1] = strides[k] * static_cast<size_t>(shape[k]);
  }
  Shape permuted;
  for (const int axis : order) {
    steps.push_back(strides[axis]);
    permuted.push_back(shape[axis]);
  }
  const SharedBytes from = node.data;
  std::vector<std::byte> data(from.size());
  std::byte* to = data.data();
  for (graph::Odometer at(permuted); at.inside(); at.next(), to += size) {
    size_t offset = 0;
    for (size_t k = 0; k < rank; ++k) offset += steps[k] * static_cast<size_t>(at.index()[k]);
    std::copy_n(from.data() + offset, size, to);
  }
  return builder.constant(x.dtype(), std::move(permuted), std::move(data));
}

}  // namespace

Result<Window> window_of(Call& call, Shape in, Shape size) {
  const size_t count = in.size();
  if (size.size() != count) {
    return call.reject(
        concat("a window ", bracketed(size), " does not fit the spatial sizes ", bracketed(in)));
  }
  const auto is_size = [](int64_t each) { return each >= 1 && each < kMaxSize; };
  if (!std::ranges::all_of(size, is_size)) {
    return call.reject(concat("a window ", bracketed(size), " must have sizes from 1 to 2^31"));
  }
  Window window{std::move(in), std::move(size), {}, {.padding = ops::Padding::Explicit}, {}};
  LATHE_ASSIGN_OR_RETURN(window.options.strides, list_of(call, "strides", count, 1, 1));
  LATHE_ASSIGN_OR_RETURN(window.options.dilations, list_of(call, "dilations", count, 1, 1));
  LATHE_ASSIGN_OR_RETURN(const Shape pads, list_of(call, "pads", 2 * count, 0, 0));
  const std::string kind = call.string_of("auto_pad", "NOTSET");
  const bool is_upper = kind == "SAME_UPPER", is_valid = kind == "VALID";
  if (!is_upper && !is_valid && kind != "SAME_LOWER" && kind != "NOTSET" && !kind.empty()) {
    return call.reject(concat("there is no auto_pad '", kind, '\''));
  }
  const bool ceil = call.int_of("ceil_mode", 0) != 0;
  for (size_t k = 0; k < count; ++k) {
    const int64_t stride = window.options.strides[k];
    const int64_t span = (window.size[k] - 1) * window.options.dilations[k] + 1;
    Fit fit{};
    if (is_upper || kind == "SAME_LOWER") {
      fit = same(window.in[k], span, stride, is_upper);
    } else if (is_valid) {
      fit = padded(window.in[k], span, stride, 0, 0, ceil);
    } else {
      fit = padded(window.in[k], span, stride, pads[k], pads[count + k], ceil);
    }
    if (fit.out > kMaxWindows) {
      return call.reject(concat("spatial axis ", k, " would have ", fit.out, " windows"));
    }
    if (fit.out < 1) {
      return call.reject(concat("a window of ", span, " does not fit spatial axis ", k, " of size ",
                                window.in[k], " with its padding"));
    }
    window.out.push_back(fit.out);
    window.options.before.push_back(fit.before);
    window.after.push_back(fit.after);
    const int64_t reach = (fit.out - 1) * stride + span - window.in[k] - fit.before;
    window.options.after.push_back(std::max(fit.after, reach));
  }
  return window;
}

Tensor channels_last(Tensor x) {
  if (!x.valid()) return x;
  std::vector<int> order = identity(x.rank());
  if (order.size() > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return x.builder->permute(x, order);
}

Tensor channels_first(Tensor x) {
  if (!x.valid()) return x;
  std::vector<int> order = identity(x.rank());
  if (order.size() > 2) std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return x.builder->permute(x, order);
}

Shape spatial_sizes(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

Result<Tensor> convolved(Call& call, Tensor x, Tensor weights) {
  const Shape in = x.shape(), w = weights.shape();
  const int64_t groups = call.int_of("group", 1);
  if (in.size() < 3 || w.size() != in.size()) {
    return call.reject(concat("x ", bracketed(in), " and weights ", bracketed(w),
                              " must be [n, c, spatial…] and [m, c / group, window…]"));
  }
  if (groups < 1 || groups > in[1] || w[1] * groups != in[1] || w[0] % groups != 0) {
    return call.reject(concat("x ", bracketed(in), " and weights ", bracketed(w), " do not fit ",
                              groups, " groups"));
  }
  const Shape size = spatial_sizes(w);
  if (const Shape kernel_shape = call.ints_of("kernel_shape", size); kernel_shape != size) {
    return call.reject(
        concat("kernel_shape ", bracketed(kernel_shape), " is not that of weights ", bracketed(w)));
  }
  LATHE_ASSIGN_OR_RETURN(const Window window, window_of(call, spatial_sizes(in), size));
  std::vector<int> order = identity(weights.rank());
  std::rotate(order.begin(), order.begin() + 2, order.end());
  if (w[1] == 1 && groups > 1) {  // depthwise
    const Shape split = [&] {
      Shape shape{groups, w[0] / groups};
      shape.insert(shape.end(), size.begin(), size.end());
      return shape;
    }();
    return ops::depthwise_conv(channels_last(x), reordered(weights, split, order), window.options);
  }
  std::swap(order[order.size() - 2], order.back());
  return ops::conv(channels_last(x), x.builder->permute(weights, order), {window.options, groups});
}

}  // namespace lathe::onnx
