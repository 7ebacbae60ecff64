#include "lathe/ops/windows/conv.h"

#include <utility>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"

namespace lathe::ops {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;

namespace {

std::string shapes_of(Tensor x, Tensor filter) {
  return concat(bracketed(x.shape()), " and filter ", bracketed(filter.shape()));
}

// x [n, spatial…, c] and a filter [k…, i, o] of the same rank.
bool fit(std::string_view what, Tensor x, Tensor filter) {
  if (!x.valid() || !filter.valid()) return false;
  Builder& builder = *x.builder;
  if (x.rank() < 3 || x.rank() > kMaxSpatialAxes + 2 || filter.rank() != x.rank()) {
    builder.error(concat(what, ": x ", shapes_of(x, filter),
                         " must both have 3 (1D), 4 (2D) or 5 (3D) axes: x [n, spatial…, "
                         "channels], filter [window…, in, out]"));
  } else if (!graph::can_multiply(x.dtype(), filter.dtype())) {
    builder.error(concat(what, ": operands must be numbers computed in one type, not ",
                         scalar::text(x.dtype()), " and ", scalar::text(filter.dtype()),
                         "; cast them"));
  }
  return builder.ok();
}

Shape spatial(const Shape& shape) { return {shape.begin() + 1, shape.end() - 1}; }
Shape window(const Shape& filter) { return {filter.begin(), filter.end() - 2}; }

// The iteration space of a convolution: n, window indices, offsets in the window, then
// `extra` dimensions of channels.
struct Space {
  int axes, rank;
  std::vector<int64_t> extents;

  Space(int64_t batch, const std::vector<WindowAxis>& windows, std::vector<int64_t> extra)
      : axes(static_cast<int>(windows.size())), extents{batch} {
    for (const WindowAxis& axis : windows) extents.push_back(axis.out);
    for (const WindowAxis& axis : windows) extents.push_back(axis.size);
    extents.insert(extents.end(), extra.begin(), extra.end());
    rank = static_cast<int>(extents.size());
  }

  int channel(int i) const { return 1 + 2 * axes + i; }
  Affine dimension(int d) const { return AffineMap::project(rank, {d}).axes[0]; }

  // [n, window index…]
  AffineMap outside() const {
    AffineMap map;
    for (int d = 0; d <= axes; ++d) map.axes.push_back(dimension(d));
    return map;
  }
  // [n, input index…]
  AffineMap inside(const std::vector<WindowAxis>& windows) const {
    AffineMap map{{dimension(0)}};
    for (int i = 0; i < axes; ++i) {
      map.axes.push_back(windows[i].input_index(rank, 1 + i, 1 + axes + i));
    }
    return map;
  }
  // [offset in the window…]
  AffineMap taps() const {
    AffineMap map;
    for (int i = 0; i < axes; ++i) map.axes.push_back(dimension(1 + axes + i));
    return map;
  }
  AffineMap with(AffineMap map, std::initializer_list<int> channels) const {
    for (int i : channels) map.axes.push_back(dimension(channel(i)));
    return map;
  }
};

Shape output_shape(int64_t batch, const std::vector<WindowAxis>& windows,
                   std::vector<int64_t> channels) {
  Shape shape{batch};
  for (const WindowAxis& axis : windows) shape.push_back(axis.out);
  shape.insert(shape.end(), channels.begin(), channels.end());
  return shape;
}

// The last axis as [count, rest].
Tensor split_last(Tensor x, int64_t count) {
  Shape shape = x.shape();
  const int64_t last = shape.back();
  shape.back() = count;
  shape.push_back(last / count);
  return x.builder->reshape(x, std::move(shape));
}

// The last two axes as one.
Tensor merge_last(Tensor x) {
  if (!x.valid()) return x;
  Shape shape = x.shape();
  const int64_t last = shape.back();
  shape.pop_back();
  shape.back() *= last;
  return x.builder->reshape(x, std::move(shape));
}

// The smallest input from which a convolution makes this many windows.
Shape smallest_input(const Shape& out, const Shape& size, const WindowOptions& options) {
  Shape in;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto at = [i](const std::vector<int64_t>& list, int64_t otherwise) {
      return i < list.size() ? list[i] : otherwise;
    };
    const int64_t stride = at(options.strides, 1);
    const int64_t span = (size[i] - 1) * at(options.dilations, 1) + 1;
    in.push_back(options.padding == Padding::Same
                     ? out[i] * stride
                     : (out[i] - 1) * stride + span - at(options.before, 0) - at(options.after, 0));
  }
  return in;
}

}  // namespace

Tensor conv(Tensor x, Tensor filter, const ConvOptions& options) {
  if (!fit("conv", x, filter)) return {x.builder, {}};
  Builder& builder = *x.builder;
  const Shape in = x.shape(), f = filter.shape();
  const int64_t groups = options.groups, ci = f[f.size() - 2], co = f.back();
  if (groups < 1 || ci * groups != in.back() || co % groups != 0) {
    return builder.error(concat("conv: x ", shapes_of(x, filter), " with ", groups,
                                " groups: x must have ", ci, " channels for each group, and the ",
                                co, " channels of the result must divide into the groups"));
  }
  const auto windows = window_axes("conv", spatial(in), window(f), options.window);
  if (!windows) return builder.error(windows.error().message);
  if (groups == 1) {
    const Space space(in[0], *windows, {ci, co});
    return builder.contract(
        x, filter,
        {space.extents, space.with(space.outside(), {1}), space.with(space.inside(*windows), {0}),
         space.with(space.taps(), {0, 1})},
        output_shape(in[0], *windows, {co}));
  }
  const Space space(in[0], *windows, {groups, ci, co / groups});
  return merge_last(builder.contract(
      split_last(x, groups), split_last(filter, groups),
      {space.extents, space.with(space.outside(), {0, 2}),
       space.with(space.inside(*windows), {0, 1}), space.with(space.taps(), {1, 0, 2})},
      output_shape(in[0], *windows, {groups, co / groups})));
}

Tensor depthwise_conv(Tensor x, Tensor filter, const WindowOptions& options) {
  if (!fit("depthwise_conv", x, filter)) return {x.builder, {}};
  Builder& builder = *x.builder;
  const Shape in = x.shape(), f = filter.shape();
  const int64_t c = in.back(), m = f.back();
  if (f[f.size() - 2] != c) {
    return builder.error(concat("depthwise_conv: x ", shapes_of(x, filter),
                                ": the filter must be [window…, ", c, ", multiplier]"));
  }
  const auto windows = window_axes("depthwise_conv", spatial(in), window(f), options);
  if (!windows) return builder.error(windows.error().message);
  if (m == 1) {
    const Space space(in[0], *windows, {c});
    Shape flat = window(f);
    flat.push_back(c);
    return builder.contract(
        x, builder.reshape(filter, std::move(flat)),
        {space.extents, space.with(space.outside(), {0}), space.with(space.inside(*windows), {0}),
         space.with(space.taps(), {0})},
        output_shape(in[0], *windows, {c}));
  }
  const Space space(in[0], *windows, {c, m});
  return merge_last(
      builder.contract(x, filter,
                       {space.extents, space.with(space.outside(), {0, 1}),
                        space.with(space.inside(*windows), {0}), space.with(space.taps(), {0, 1})},
                       output_shape(in[0], *windows, {c, m})));
}

Tensor conv_transpose(Tensor x, Tensor filter, const WindowOptions& options, Shape out) {
  if (!fit("conv_transpose", x, filter)) return {x.builder, {}};
  Builder& builder = *x.builder;
  const Shape in = x.shape(), f = filter.shape();
  const int64_t co = f[f.size() - 2], ci = f.back();
  if (ci != in.back()) {
    return builder.error(concat("conv_transpose: x ", shapes_of(x, filter),
                                ": the filter must be [window…, out, ", in.back(), "]"));
  }
  if (out.empty()) out = smallest_input(spatial(in), window(f), options);
  const auto windows = window_axes("conv_transpose", out, window(f), options);
  if (!windows) return builder.error(windows.error().message);
  const Space space(in[0], *windows, {ci, co});
  if (output_shape(in[0], *windows, {ci}) != in) {
    return builder.error(concat("conv_transpose: a convolution of ", bracketed(out), " by ",
                                bracketed(window(f)), " yields ",
                                bracketed(spatial(output_shape(0, *windows, {0}))), ", but x is ",
                                bracketed(in), "; pass another output size"));
  }
  Shape shape = std::move(out);
  insert_at(shape, 0, in[0]);
  shape.push_back(co);
  return builder.contract(x, filter,
                          {space.extents, space.with(space.inside(*windows), {1}),
                           space.with(space.outside(), {0}), space.with(space.taps(), {1, 0})},
                          std::move(shape));
}

}  // namespace lathe::ops
