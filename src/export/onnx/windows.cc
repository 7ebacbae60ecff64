// Contractions with windows as convolution operators: channels-first, over f32.
#include "lathe/export/onnx/windows.h"

#include <algorithm>

#include "lathe/export/onnx/emitter.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

using graph::Affine;
using graph::AffineMap;
using graph::Contraction;
using graph::Kind;
using scalar::Number;
using scalar::Op;

namespace {

constexpr size_t kMaxSpatialAxes = 3;

std::optional<Window> window_of(const Affine& affine, const Shape& extents, int64_t in,
                                const Test& is_outer, const Test& is_inner) {
  Window window{.before = -affine.offset, .in = in};
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t step = affine.coefficients[d];
    if (step == 0) continue;
    const int dimension = static_cast<int>(d);
    if (step > 0 && window.o < 0 && is_outer(dimension)) {
      window.o = dimension;
      window.stride = step;
      window.windows = extents[d];
    } else if (step > 0 && window.k < 0 && is_inner(dimension)) {
      window.k = dimension;
      window.dilation = step;
      window.size = extents[d];
    } else {
      return std::nullopt;
    }
  }
  if (window.o < 0 && window.k < 0) return std::nullopt;
  return window;
}

// The dimension whose full extent an axis is; -1: none.
int dimension_of(const Affine& affine, const Shape& extents, int64_t size) {
  const int d = affine.single_dimension();
  return d >= 0 && extents[static_cast<size_t>(d)] == size ? d : -1;
}

// The dimension of each axis; nothing if one is no separate dimension.
std::optional<std::vector<int>> dimensions_of(const AffineMap& map, const Shape& extents,
                                              const Shape& shape) {
  std::vector<int> result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int d = dimension_of(map.axes[axis], extents, shape[axis]);
    if (d < 0 || has(result, d)) return std::nullopt;
    result.push_back(d);
  }
  return result;
}

}  // namespace

std::optional<WindowedTensor> match_windows(const AffineMap& map, const Shape& extents,
                                            const Shape& shape, const Test& is_outer,
                                            const Test& is_inner) {
  WindowedTensor image;
  std::vector<int> seen;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Affine& affine = map.axes[axis];
    const int d = dimension_of(affine, extents, shape[axis]);
    image.axes.push_back(d);
    if (d >= 0) {
      if (has(seen, d)) return std::nullopt;
      seen.push_back(d);
      continue;
    }
    auto window = window_of(affine, extents, shape[axis], is_outer, is_inner);
    if (!window || has(seen, window->o) || has(seen, window->k)) return std::nullopt;
    if (window->o >= 0) seen.push_back(window->o);
    if (window->k >= 0) seen.push_back(window->k);
    window->axis = static_cast<int>(axis);
    image.windows.push_back(*window);
  }
  if (image.windows.empty() || image.windows.size() > kMaxSpatialAxes) return std::nullopt;
  return image;
}

std::vector<int64_t> each(const std::vector<Window>& windows, int64_t Window::*member) {
  std::vector<int64_t> list;
  for (const Window& window : windows) list.push_back(window.*member);
  return list;
}

std::vector<int64_t> pads_of(const std::vector<Window>& windows) {
  std::vector<int64_t> pads = each(windows, &Window::before);
  for (const Window& window : windows) pads.push_back(std::max<int64_t>(window.after(), 0));
  return pads;
}

bool is_same_upper(const std::vector<Window>& windows) {
  return std::ranges::all_of(windows, [](const Window& window) {
    const int64_t around = std::max<int64_t>(window.reach() - window.in, 0);
    return window.dilation == 1 && window.before == around / 2 &&
           window.windows == (window.in + window.stride - 1) / window.stride;
  });
}

namespace {

// Crops what no window reads from the last axes of x, where the operator would not ignore it.
Tensor cropped(Writer& w, Tensor x, std::vector<Window>& windows) {
  const size_t lead = x.shape.size() - windows.size();
  std::vector<int64_t> starts(x.shape.size(), 0);
  const std::vector<int64_t> steps(x.shape.size(), 1);
  Shape shape = x.shape;
  for (size_t i = 0; i < windows.size(); ++i) {
    Window& window = windows[i];
    int64_t& size = shape[lead + i];
    if (window.before < 0) {
      starts[lead + i] = -window.before;
      size += window.before;
      window.in += window.before;
      window.before = 0;
    }
    const int64_t rest = -window.after();
    if (rest >= window.stride) {
      size -= rest;
      window.in -= rest;
    }
  }
  return w.slice(x, starts, steps, shape);
}

// Dimensions of a convolution by their role, except windows.
struct Channels {
  std::vector<int> rows, groups, in, out;
};

// Axes of a tensor, in the order of these dimensions.
std::vector<int> axes_of(const std::vector<int>& dimensions, const std::vector<int>& axes) {
  std::vector<int> result;
  for (const int d : dimensions) {
    result.push_back(static_cast<int>(std::ranges::find(axes, d) - axes.begin()));
  }
  return result;
}

int64_t size_of(const std::vector<int>& dimensions, const Shape& extents) {
  int64_t size = 1;
  for (const int d : dimensions) size *= extents[static_cast<size_t>(d)];
  return size;
}

// The operands, axes and dimensions of a convolution or its transpose.
struct Plan {
  Value image, kernel;                                 // image: the operand that is not the kernel
  std::vector<int> image_axes, kernel_axes, out_axes;  // dimensions; -1: windows
  std::vector<Window> windows;
  Channels channels;
};

// The image with its axes as [rows, channels, spatial…].
Tensor image_tensor(Emitter& e, const Plan& plan, const Shape& extents, bool has_windows) {
  const std::vector<int> order =
      concat_lists({plan.channels.rows, plan.channels.groups, plan.channels.in});
  std::vector<int> axes = axes_of(order, plan.image_axes);
  Shape shape = {size_of(plan.channels.rows, extents),
                 size_of(concat_lists({plan.channels.groups, plan.channels.in}), extents)};
  for (const Window& window : plan.windows) {
    const int axis = has_windows    ? window.axis
                     : window.o < 0 ? -1
                                    : axes_of({window.o}, plan.image_axes)[0];
    if (axis >= 0) axes.push_back(axis);
    shape.push_back(axis < 0 ? 1 : e[plan.image].shape[static_cast<size_t>(axis)]);
  }
  return e.writer.reshape(e.ordered(plan.image, axes), std::move(shape));
}

// The kernel as [channels…, window…]: the dimensions `first` as one axis, then `second`.
Tensor kernel_tensor(Emitter& e, const Plan& plan, const Shape& extents,
                     const std::vector<int>& first, const std::vector<int>& second) {
  std::vector<int> order = concat_lists({first, second});
  Shape shape = {size_of(first, extents), size_of(second, extents)};
  for (const Window& window : plan.windows) {
    if (window.k >= 0) order.push_back(window.k);
    shape.push_back(window.size);
  }
  return e.writer.reshape(e.ordered(plan.kernel, axes_of(order, plan.kernel_axes)),
                          std::move(shape));
}

// [rows, groups and channels, spatial…] as the result, whose windowed axes are `spatial`.
PermutedTensor result_of(Emitter& e, const Plan& plan, const Tensor& y,
                         const std::vector<int>& spatial, const Contraction& c,
                         const Shape& shape) {
  const std::vector<int> order =
      concat_lists({plan.channels.rows, plan.channels.groups, plan.channels.out});
  std::vector<int> labels = axes_of(order, plan.out_axes);
  Shape spaced;
  for (const int d : order) spaced.push_back(c.extents[static_cast<size_t>(d)]);
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] < 0) continue;
    labels.push_back(spatial[i]);
    spaced.push_back(y.shape[2 + i]);
  }
  return labeled(e.writer, e.writer.reshape(y, std::move(spaced)), labels, shape);
}

Attributes attributes_of(const Plan& plan, const Shape& extents) {
  return {{"kernel_shape", each(plan.windows, &Window::size)},
          {"strides", each(plan.windows, &Window::stride)},
          {"dilations", each(plan.windows, &Window::dilation)},
          {"pads", pads_of(plan.windows)},
          {"group", size_of(plan.channels.groups, extents)}};
}

// Sorts dimensions into roles by the tensors that have them. False: some have none.
bool find_channels(Plan& plan) {
  const auto is_window = [&](int d) {
    return std::ranges::any_of(plan.windows,
                               [d](const Window& each) { return each.o == d || each.k == d; });
  };
  Channels& channels = plan.channels;
  for (const int d : plan.image_axes) {
    if (d < 0 || is_window(d)) continue;
    const bool in_kernel = has(plan.kernel_axes, d), in_out = has(plan.out_axes, d);
    if (!in_kernel && !in_out) return false;
    (in_kernel && in_out ? channels.groups : in_kernel ? channels.in : channels.rows).push_back(d);
  }
  for (const int d : plan.kernel_axes) {
    if (is_window(d) || has(plan.image_axes, d)) continue;
    if (!has(plan.out_axes, d)) return false;
    channels.out.push_back(d);
  }
  for (const int d : plan.out_axes) {
    if (d >= 0 && !is_window(d) && !has(plan.image_axes, d) && !has(plan.kernel_axes, d)) {
      return false;
    }
  }
  return true;
}

std::optional<PermutedTensor> forward(Emitter& e, const graph::Node& node, size_t side) {
  const Contraction& c = node.contraction;
  const Value image = node.operands[side], kernel = node.operands[1 - side];
  const auto out = dimensions_of(c.out, c.extents, node.shape);
  const auto taps = dimensions_of(side == 0 ? c.rhs : c.lhs, c.extents, e[kernel].shape);
  if (!out || !taps) return std::nullopt;
  const auto is_outer = [&](int d) { return has(*out, d) && !has(*taps, d); };
  const auto is_inner = [&](int d) { return has(*taps, d) && !has(*out, d); };
  const auto found =
      match_windows(side == 0 ? c.lhs : c.rhs, c.extents, e[image].shape, is_outer, is_inner);
  if (!found) return std::nullopt;
  Plan plan{image, kernel, found->axes, *taps, *out, found->windows, {}};
  if (!find_channels(plan)) return std::nullopt;
  const Tensor x =
      cropped(e.writer, image_tensor(e, plan, c.extents, /*has_windows=*/true), plan.windows);
  const Tensor w =
      kernel_tensor(e, plan, c.extents, concat_lists({plan.channels.groups, plan.channels.out}),
                    plan.channels.in);
  Shape shape = {x.shape[0], w.shape[0]};
  std::vector<int> spatial;
  for (const Window& window : plan.windows) {
    shape.push_back(window.windows);
    spatial.push_back(window.o < 0 ? -1 : axes_of({window.o}, *out)[0]);
  }
  const Tensor y =
      e.writer.node("Conv", {x, w}, DType::F32, std::move(shape), attributes_of(plan, c.extents));
  e.writer.last().same_upper = is_same_upper(plan.windows);
  return result_of(e, plan, y, spatial, c, node.shape);
}

std::optional<PermutedTensor> transposed(Emitter& e, const graph::Node& node, size_t side) {
  const Contraction& c = node.contraction;
  const Value image = node.operands[side], kernel = node.operands[1 - side];
  const auto axes = dimensions_of(side == 0 ? c.lhs : c.rhs, c.extents, e[image].shape);
  const auto taps = dimensions_of(side == 0 ? c.rhs : c.lhs, c.extents, e[kernel].shape);
  if (!axes || !taps) return std::nullopt;
  const auto is_outer = [&](int d) { return has(*axes, d) && !has(*taps, d); };
  const auto is_inner = [&](int d) { return has(*taps, d) && !has(*axes, d); };
  const auto found = match_windows(c.out, c.extents, node.shape, is_outer, is_inner);
  if (!found) return std::nullopt;
  Plan plan{image, kernel, *axes, *taps, found->axes, found->windows, {}};
  const bool has_kernel = std::ranges::any_of(
      plan.windows, [](const Window& window) { return window.o >= 0 && window.k >= 0; });
  if (!has_kernel || !find_channels(plan)) return std::nullopt;
  std::vector<int64_t> output_padding, missing;
  for (const Window& window : plan.windows) {
    if (window.before < 0) return std::nullopt;
    // Positions after the last window are zero: some by output_padding, others by Pad.
    const int64_t beyond = std::max<int64_t>(-window.after(), 0);
    output_padding.push_back(beyond < window.stride ? beyond : 0);
    missing.push_back(beyond - output_padding.back());
    if (window.in == missing.back()) return std::nullopt;
  }
  const Tensor x = image_tensor(e, plan, c.extents, /*has_windows=*/false);
  const Tensor w =
      kernel_tensor(e, plan, c.extents, concat_lists({plan.channels.groups, plan.channels.in}),
                    plan.channels.out);
  Attributes attributes = attributes_of(plan, c.extents);
  attributes["output_padding"] = output_padding;
  Shape shape = {x.shape[0],
                 size_of(concat_lists({plan.channels.groups, plan.channels.out}), c.extents)};
  std::vector<int> spatial;
  for (size_t i = 0; i < plan.windows.size(); ++i) {
    shape.push_back(plan.windows[i].in - missing[i]);
    spatial.push_back(plan.windows[i].axis);
  }
  const Tensor y =
      e.writer.node("ConvTranspose", {x, w}, DType::F32, std::move(shape), std::move(attributes));
  missing.insert(missing.begin(), 2, 0);
  const std::vector<int64_t> none(missing.size(), 0);
  const Tensor padded = e.writer.pad(y, none, missing, Number::of(0.0f));
  return result_of(e, plan, padded, spatial, c, node.shape);
}

}  // namespace

std::optional<PermutedTensor> emit_convolution(Emitter& e, const graph::Node& node) {
  if (node.dtype != DType::F32) return std::nullopt;
  for (const size_t side : {0u, 1u}) {
    if (e[node.operands[side]].dtype != DType::F32) return std::nullopt;
  }
  for (const size_t side : {0u, 1u}) {
    if (auto result = forward(e, node, side)) return result;
  }
  for (const size_t side : {0u, 1u}) {
    if (auto result = transposed(e, node, side)) return result;
  }
  return std::nullopt;
}

}  // namespace lathe::onnx_export
