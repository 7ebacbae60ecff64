// Emits f32 contractions over sliding windows as Conv or ConvTranspose, channels first.
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

// The windows of an axis that reads affine(dimensions): a positive multiple of at most one outer
// and one inner dimension, plus an offset. nullopt: the affine has another form, or no dimension.
std::optional<Window> window_of(const Affine& affine, const Shape& extents, int64_t input_size,
                                const DimensionPredicate& is_outer,
                                const DimensionPredicate& is_inner) {
  Window window{.pad_before = -affine.offset, .input_size = input_size};
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t step = affine.coefficients[d];
    if (step == 0) continue;
    const int dimension = static_cast<int>(d);
    if (step > 0 && window.output_dim < 0 && is_outer(dimension)) {
      window.output_dim = dimension;
      window.stride = step;
      window.window_count = extents[d];
    } else if (step > 0 && window.kernel_dim < 0 && is_inner(dimension)) {
      window.kernel_dim = dimension;
      window.dilation = step;
      window.kernel_size = extents[d];
    } else {
      return std::nullopt;
    }
  }
  if (window.output_dim < 0 && window.kernel_dim < 0) return std::nullopt;
  return window;
}

// The dimension d if the axis is exactly index d over its whole extent; -1 otherwise.
int dimension_of(const Affine& affine, const Shape& extents, int64_t size) {
  const int d = affine.single_dimension();
  return d >= 0 && extents[d] == size ? d : -1;
}

// The dimension of each axis, as dimension_of(); nullopt if an axis has none, or two axes have the
// same.
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
                                            const Shape& shape, const DimensionPredicate& is_outer,
                                            const DimensionPredicate& is_inner) {
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
    if (!window || has(seen, window->output_dim) || has(seen, window->kernel_dim))
      return std::nullopt;
    if (window->output_dim >= 0) seen.push_back(window->output_dim);
    if (window->kernel_dim >= 0) seen.push_back(window->kernel_dim);
    window->axis = static_cast<int>(axis);
    image.windows.push_back(*window);
  }
  if (image.windows.empty() || image.windows.size() > kMaxSpatialAxes) return std::nullopt;
  return image;
}

std::vector<int64_t> member_of_each(const std::vector<Window>& windows, int64_t Window::*member) {
  std::vector<int64_t> list;
  for (const Window& window : windows) list.push_back(window.*member);
  return list;
}

std::vector<int64_t> pads_of(const std::vector<Window>& windows) {
  std::vector<int64_t> pads = member_of_each(windows, &Window::pad_before);
  for (const Window& window : windows) pads.push_back(std::max<int64_t>(window.pad_after(), 0));
  return pads;
}

bool is_same_upper(const std::vector<Window>& windows) {
  return std::ranges::all_of(windows, [](const Window& window) {
    const int64_t around = std::max<int64_t>(window.reach() - window.input_size, 0);
    return window.dilation == 1 && window.pad_before == around / 2 &&
           window.window_count == (window.input_size + window.stride - 1) / window.stride;
  });
}

namespace {

// x [..., spatial...] without the elements at the edges of its spatial axes that no window reads;
// updates the windows accordingly. Fewer trailing ones than a stride remain: Conv ignores them.
Tensor cropped(Writer& w, Tensor x, std::vector<Window>& windows) {
  const size_t lead = x.shape.size() - windows.size();
  std::vector<int64_t> starts(x.shape.size(), 0);
  const std::vector<int64_t> steps(x.shape.size(), 1);
  Shape shape = x.shape;
  for (size_t i = 0; i < windows.size(); ++i) {
    Window& window = windows[i];
    int64_t& size = shape[lead + i];
    if (window.pad_before < 0) {
      starts[lead + i] = -window.pad_before;
      size += window.pad_before;
      window.input_size += window.pad_before;
      window.pad_before = 0;
    }
    const int64_t rest = -window.pad_after();
    if (rest >= window.stride) {
      size -= rest;
      window.input_size -= rest;
    }
  }
  return w.slice(x, starts, steps, shape);
}

// The dimensions of a convolution that belong to no window, by role: `rows` are in image and
// result, `groups` in all three, `in` in image and kernel, `out` in kernel and result.
struct Channels {
  std::vector<int> rows, groups, in, out;
};

// The axis of each of these dimensions; `axes` has the dimension of each axis.
std::vector<int> axes_of(const std::vector<int>& dimensions, const std::vector<int>& axes) {
  std::vector<int> result;
  for (const int d : dimensions) {
    result.push_back(static_cast<int>(std::ranges::find(axes, d) - axes.begin()));
  }
  return result;
}

// The product of the extents of these dimensions.
int64_t size_of(const std::vector<int>& dimensions, const Shape& extents) {
  int64_t size = 1;
  for (const int d : dimensions) size *= extents[d];
  return size;
}

// The operands, axes and dimensions of a convolution or its transpose.
struct Plan {
  Value image, kernel;                                 // image: the operand that is not the kernel
  std::vector<int> image_axes, kernel_axes, out_axes;  // dimensions; -1: windows
  std::vector<Window> windows;
  Channels channels;
};

// The image as [rows, groups and input channels, spatial…]. `image_is_windowed`: windows slide over
// its axes, as for Conv; otherwise its spatial axes have one element per window, as for
// ConvTranspose.
Tensor image_tensor(Emitter& e, const Plan& plan, const Shape& extents, bool image_is_windowed) {
  const std::vector<int> order =
      concat_lists({plan.channels.rows, plan.channels.groups, plan.channels.in});
  std::vector<int> axes = axes_of(order, plan.image_axes);
  Shape shape = {size_of(plan.channels.rows, extents),
                 size_of(concat_lists({plan.channels.groups, plan.channels.in}), extents)};
  for (const Window& window : plan.windows) {
    const int axis = image_is_windowed       ? window.axis
                     : window.output_dim < 0 ? -1
                                             : axes_of({window.output_dim}, plan.image_axes)[0];
    if (axis >= 0) axes.push_back(axis);
    shape.push_back(axis < 0 ? 1 : e[plan.image].shape[axis]);
  }
  return e.writer.reshape(e.ordered(plan.image, axes), std::move(shape));
}

// The kernel as [channels…, window…]: the dimensions `first` as one axis, then `second`.
Tensor kernel_tensor(Emitter& e, const Plan& plan, const Shape& extents,
                     const std::vector<int>& first, const std::vector<int>& second) {
  std::vector<int> order = concat_lists({first, second});
  Shape shape = {size_of(first, extents), size_of(second, extents)};
  for (const Window& window : plan.windows) {
    if (window.kernel_dim >= 0) order.push_back(window.kernel_dim);
    shape.push_back(window.kernel_size);
  }
  return e.writer.reshape(e.ordered(plan.kernel, axes_of(order, plan.kernel_axes)),
                          std::move(shape));
}

// y [rows, groups and output channels, spatial…] as the result of the contraction. `spatial`: the
// axis of the result of each spatial axis of y; -1: none, as its size is 1.
PermutedTensor result_of(Emitter& e, const Plan& plan, const Tensor& y,
                         const std::vector<int>& spatial, const Contraction& c,
                         const Shape& shape) {
  const std::vector<int> order =
      concat_lists({plan.channels.rows, plan.channels.groups, plan.channels.out});
  std::vector<int> labels = axes_of(order, plan.out_axes);
  Shape spaced;
  for (const int d : order) spaced.push_back(c.extents[d]);
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] < 0) continue;
    labels.push_back(spatial[i]);
    spaced.push_back(y.shape[2 + i]);
  }
  return labeled(e.writer, e.writer.reshape(y, std::move(spaced)), labels, shape);
}

Attributes attributes_of(const Plan& plan, const Shape& extents) {
  return {{"kernel_shape", member_of_each(plan.windows, &Window::kernel_size)},
          {"strides", member_of_each(plan.windows, &Window::stride)},
          {"dilations", member_of_each(plan.windows, &Window::dilation)},
          {"pads", pads_of(plan.windows)},
          {"group", size_of(plan.channels.groups, extents)}};
}

// Fills plan.channels, from the tensors that have each dimension. Returns false if a dimension fits
// no role.
bool find_channels(Plan& plan) {
  const auto is_window = [&](int d) {
    return std::ranges::any_of(plan.windows, [d](const Window& window) {
      return window.output_dim == d || window.kernel_dim == d;
    });
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

// The contraction as a Conv of operand `side` with the other as the kernel; nullopt if it is none.
std::optional<PermutedTensor> try_conv(Emitter& e, const graph::Node& node, size_t side) {
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
      cropped(e.writer, image_tensor(e, plan, c.extents, /*image_is_windowed=*/true), plan.windows);
  const Tensor w =
      kernel_tensor(e, plan, c.extents, concat_lists({plan.channels.groups, plan.channels.out}),
                    plan.channels.in);
  Shape shape = {x.shape[0], w.shape[0]};
  std::vector<int> spatial;
  for (const Window& window : plan.windows) {
    shape.push_back(window.window_count);
    spatial.push_back(window.output_dim < 0 ? -1 : axes_of({window.output_dim}, *out)[0]);
  }
  const Tensor y =
      e.writer.node("Conv", {x, w}, DType::F32, std::move(shape), attributes_of(plan, c.extents));
  e.writer.last().same_upper = is_same_upper(plan.windows);
  return result_of(e, plan, y, spatial, c, node.shape);
}

// The contraction as a ConvTranspose of operand `side` with the other as the kernel; nullopt if it
// is none.
std::optional<PermutedTensor> try_conv_transpose(Emitter& e, const graph::Node& node, size_t side) {
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
  const bool has_sliding_window = std::ranges::any_of(plan.windows, [](const Window& window) {
    return window.output_dim >= 0 && window.kernel_dim >= 0;
  });
  if (!has_sliding_window || !find_channels(plan)) return std::nullopt;
  std::vector<int64_t> output_padding, missing;
  for (const Window& window : plan.windows) {
    if (window.pad_before < 0) return std::nullopt;
    // Positions after the last window are zero: some by output_padding, others by Pad.
    const int64_t beyond = std::max<int64_t>(-window.pad_after(), 0);
    output_padding.push_back(beyond < window.stride ? beyond : 0);
    missing.push_back(beyond - output_padding.back());
    if (window.input_size == missing.back()) return std::nullopt;
  }
  const Tensor x = image_tensor(e, plan, c.extents, /*image_is_windowed=*/false);
  const Tensor w =
      kernel_tensor(e, plan, c.extents, concat_lists({plan.channels.groups, plan.channels.in}),
                    plan.channels.out);
  Attributes attributes = attributes_of(plan, c.extents);
  attributes["output_padding"] = output_padding;
  Shape shape = {x.shape[0],
                 size_of(concat_lists({plan.channels.groups, plan.channels.out}), c.extents)};
  std::vector<int> spatial;
  for (size_t i = 0; i < plan.windows.size(); ++i) {
    shape.push_back(plan.windows[i].input_size - missing[i]);
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
    if (auto result = try_conv(e, node, side)) return result;
  }
  for (const size_t side : {0u, 1u}) {
    if (auto result = try_conv_transpose(e, node, side)) return result;
  }
  return std::nullopt;
}

}  // namespace lathe::onnx_export
