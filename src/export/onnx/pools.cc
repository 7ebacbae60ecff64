// Reductions over windows as pooling operators: channels-first, over f32.
#include <algorithm>

#include "lathe/export/onnx/emitter.h"
#include "lathe/export/onnx/windows.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

using graph::AffineMap;
using graph::Kind;
using scalar::Number;
using scalar::Op;

namespace {

// The offsets of a map that only translates; nothing of others.
std::optional<std::vector<int64_t>> offsets_of(const AffineMap& map, size_t rank) {
  if (map.axes.size() != rank) return std::nullopt;
  std::vector<int64_t> offsets;
  for (size_t axis = 0; axis < rank; ++axis) {
    for (size_t d = 0; d < rank; ++d) {
      if (map.axes[axis].coefficients[d] != (d == axis ? 1 : 0)) return std::nullopt;
    }
    offsets.push_back(map.axes[axis].offset);
  }
  return offsets;
}

}  // namespace

std::optional<Padded> padded_of(const Emitter& e, const graph::Node& node) {
  if (node.kind != Kind::Map || node.op != Op::Select) return std::nullopt;
  const graph::Node &inside = e[node.operands[0]], &moved = e[node.operands[1]];
  const auto number = e.splat(node.operands[2]);
  if (inside.kind != Kind::Reindex || moved.kind != Kind::Reindex || !number ||
      inside.map != moved.map) {
    return std::nullopt;
  }
  const graph::Node &all = e[inside.operands[0]], &x = e[moved.operands[0]];
  const auto offsets = offsets_of(moved.map, node.shape.size());
  if (!offsets || !graph::is_splat(all) || splat_value(all).is_zero() || all.shape != x.shape) {
    return std::nullopt;
  }
  Padded padded{moved.operands[0], {}, {}, *number};
  for (size_t axis = 0; axis < offsets->size(); ++axis) {
    padded.before.push_back(-(*offsets)[axis]);
    padded.after.push_back(node.shape[axis] - x.shape[axis] + (*offsets)[axis]);
    if (padded.before.back() < 0 || padded.after.back() < 0) return std::nullopt;
  }
  return padded;
}

std::optional<PermutedTensor> emit_padded(Emitter& e, const graph::Node& node) {
  const auto padded = padded_of(e, node);
  if (!padded || scalar::size_of(node.dtype) < 4) return std::nullopt;
  const Tensor x = e.plain(padded->x);
  return PermutedTensor::plain(e.writer.pad(x, padded->before, padded->after, padded->number));
}

namespace {

// Whether runtimes pool over these windows; pads must be smaller than the window.
bool may_pool(const std::vector<Window>& windows, bool is_max) {
  return std::ranges::all_of(windows, [&](const Window& window) {
    const int64_t after = window.pad_after();
    const bool fits = window.pad_before >= 0 && window.pad_before < window.kernel_size &&
                      after < window.kernel_size && -after < window.stride;
    return fits && (is_max || window.dilation == 1);
  });
}

// The reduction over the windows of the image; its other axes are rows and channels.
PermutedTensor pooled(Emitter& e, const graph::Node& node, Value from, const WindowedTensor& image,
                      bool is_max) {
  const Shape& view = e[node.operands[0]].shape;
  std::vector<int> axes, labels;
  Shape shape = {1, 1}, spaced;
  const auto label = [&](int d) {
    const auto before = std::ranges::lower_bound(node.axes, d) - node.axes.begin();
    labels.push_back(d - static_cast<int>(before));
    spaced.push_back(view[d]);
  };
  for (size_t axis = 0; axis < image.axes.size(); ++axis) {
    if (image.axes[axis] < 0) continue;
    axes.push_back(static_cast<int>(axis));
    label(image.axes[axis]);
    shape = {shape[0] * shape[1], spaced.back()};
  }
  Shape result = shape;
  double terms = 1;
  for (const Window& window : image.windows) {
    axes.push_back(window.axis);
    shape.push_back(window.input_size);
    result.push_back(window.window_count);
    terms *= static_cast<double>(window.kernel_size);
    if (window.output_dim >= 0) label(window.output_dim);
  }
  Writer& w = e.writer;
  const Tensor x = w.reshape(e.ordered(from, axes), std::move(shape));
  Attributes attributes = {{"kernel_shape", member_of_each(image.windows, &Window::kernel_size)},
                           {"strides", member_of_each(image.windows, &Window::stride)},
                           {"pads", pads_of(image.windows)}};
  const auto as_result = [&](const Tensor& y) {
    return labeled(w, w.reshape(y, spaced), labels, node.shape);
  };
  if (is_max) {
    attributes["dilations"] = member_of_each(image.windows, &Window::dilation);
    const Tensor maximum =
        w.node("MaxPool", {x}, DType::F32, std::move(result), std::move(attributes));
    // ONNX Runtime's pools do not support gaps between windows with auto_pad.
    w.last().same_upper = is_same_upper(image.windows) &&
                          std::ranges::all_of(image.windows, [](const Window& window) {
                            return window.stride <= window.kernel_size;
                          });
    return as_result(maximum);
  }
  attributes["count_include_pad"] = int64_t{1};
  const Tensor mean =
      w.node("AveragePool", {x}, DType::F32, std::move(result), std::move(attributes));
  const Tensor sum = w.map("Mul", {mean, w.number(Number::from(DType::F32, terms))});
  const PermutedTensor sums = as_result(sum), means = as_result(mean);
  e.means[sums.stored.name] = {means.stored, terms};
  return sums;
}

// If the image is padded with the lowest number: windows over the original.
void look_through_pad(const Emitter& e, Value& from, WindowedTensor& image) {
  const auto padded = padded_of(e, e[from]);
  if (!padded || !padded->number.same_bits(Number::lowest(DType::F32))) return;
  const Shape &inner = e[padded->x].shape, &outer = e[from].shape;
  std::vector<Window> windows = image.windows;
  for (Window& window : windows) {
    const auto axis = static_cast<size_t>(window.axis);
    window.pad_before += padded->before[axis];
    window.input_size = inner[axis];
  }
  for (size_t axis = 0; axis < inner.size(); ++axis) {
    if (image.axes[axis] >= 0 && inner[axis] != outer[axis]) return;
  }
  if (!may_pool(windows, true)) return;
  from = padded->x;
  image.windows = windows;
}

// The x of select(lowest < x, x, lowest), or the value itself: ONNX does not specify how pools
// propagate NaN.
Value with_nans(const Emitter& e, Value x) {
  const graph::Node& node = e[x];
  if (node.kind != Kind::Map || node.op != Op::Select) return x;
  const graph::Node& test = e[node.operands[0]];
  if (test.kind != Kind::Map || test.op != Op::Lt || test.operands[1] != node.operands[1]) return x;
  for (const Value each : {test.operands[0], node.operands[2]}) {
    const auto number = e.splat(each);
    if (!number || !number->same_bits(Number::lowest(node.dtype))) return x;
  }
  return node.operands[1];
}

}  // namespace

std::optional<PermutedTensor> emit_pool(Emitter& e, const graph::Node& node) {
  const graph::Node& view = e[with_nans(e, node.operands[0])];
  const bool is_max = node.op == Op::Max;
  if (view.kind != Kind::Reindex || node.dtype != DType::F32 || (!is_max && node.op != Op::Add)) {
    return std::nullopt;
  }
  const auto is_inner = [&](int d) { return has(node.axes, d); };
  const auto is_outer = [&](int d) { return !has(node.axes, d); };
  Value from = view.operands[0];
  auto image = match_windows(view.map, view.shape, e[from].shape, is_outer, is_inner);
  if (!image) return std::nullopt;
  if (is_max && !always_inside(view.map, view.shape, e[from].shape)) return std::nullopt;
  std::vector<int> covered;
  for (const Window& window : image->windows)
    covered.insert(covered.end(), {window.output_dim, window.kernel_dim});
  for (const int d : image->axes) {
    if (d >= 0 && has(node.axes, d)) return std::nullopt;
    covered.push_back(d);
  }
  for (int d = 0; d < static_cast<int>(view.shape.size()); ++d) {
    if (!has(covered, d)) return std::nullopt;
  }
  if (is_max) look_through_pad(e, from, *image);
  if (!may_pool(image->windows, is_max)) return std::nullopt;
  return pooled(e, node, from, *image, is_max);
}

}  // namespace lathe::onnx_export
