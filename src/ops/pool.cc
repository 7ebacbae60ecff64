#include "lathe/ops/pool.h"

#include <algorithm>
#include <numeric>

#include "lathe/base/text.h"

namespace lathe::ops {

using graph::AffineMap;
using graph::Builder;
using graph::DType;
using graph::Op;

namespace {

constexpr int kMostSpatial = 3;

bool is_picture(std::string_view what, Tensor x) {
  if (!x.valid()) return false;
  if (x.rank() < 3 || x.rank() > kMostSpatial + 2) {
    x.builder->error(concat(what, ": x ", bracketed(x.shape()),
                            " must have 3 (1D), 4 (2D) or 5 (3D) axes: [n, spatial…, channels]"));
  }
  return x.builder->ok();
}

// The elements of every window: shape [n, out…, size…, c], and the axes of the size.
struct Windows {
  AffineMap map;
  Shape shape;
  std::vector<int> axes;
  std::vector<WindowAxis> spatial;

  bool leave() const { return std::ranges::any_of(spatial, &WindowAxis::leaves); }
  Tensor view(Tensor x) const { return x.builder->reindex(x, map, shape); }
};

// Without the places of the windows that are outside whichever window it is: a pool ignores them.
void trim(WindowAxis& axis) {
  const int64_t last = (axis.out - 1) * axis.stride - axis.before;  // where the last window begins
  const int64_t first = last < 0 ? (-last + axis.dilation - 1) / axis.dilation : 0;
  const int64_t end = std::min(axis.size, (axis.in - 1 + axis.before) / axis.dilation + 1);
  if (first >= end) return;
  axis.before -= first * axis.dilation;
  axis.size = end - first;
}

Result<Windows> windows_of(std::string_view what, Tensor x, Shape size, WindowOptions options) {
  const Shape& in = x.shape();
  if (size.size() == 1) size.resize(in.size() - 2, size[0]);
  if (options.strides.empty()) options.strides = size;
  LATHE_ASSIGN_OR_RETURN(std::vector<WindowAxis> axes,
                         window_axes(what, {in.begin() + 1, in.end() - 1}, size, options));
  for (WindowAxis& axis : axes) trim(axis);
  Windows windows{{}, {in[0]}, {}, axes};
  const int count = static_cast<int>(axes.size()), rank = 2 * count + 2;
  for (const WindowAxis& axis : axes) windows.shape.push_back(axis.out);
  for (const WindowAxis& axis : axes) windows.shape.push_back(axis.size);
  windows.shape.push_back(in.back());
  windows.map = AffineMap::project(rank, {0});
  for (int i = 0; i < count; ++i) {
    const WindowAxis& axis = axes[static_cast<size_t>(i)];
    windows.map.axes.push_back(axis.place(rank, 1 + i, 1 + count + i));
    windows.axes.push_back(1 + count + i);
  }
  windows.map.axes.push_back(AffineMap::project(rank, {rank - 1}).axes[0]);
  return windows;
}

// A copy of x with the lowest number around it, so that no window leaves it; `windows` are of that.
Tensor surrounded(Tensor x, Windows& windows) {
  if (!windows.leave()) return x;
  Builder& builder = *x.builder;
  Shape shape = x.shape();
  AffineMap map = AffineMap::project(x.rank(), {0});
  for (size_t i = 0; i < windows.spatial.size(); ++i) {
    const WindowAxis& axis = windows.spatial[i];
    shape[i + 1] = (axis.out - 1) * axis.stride + (axis.size - 1) * axis.dilation + 1;
    map.axes.push_back(AffineMap::project(x.rank(), {static_cast<int>(i) + 1}).axes[0]);
    map.axes.back().offset = -axis.before;
    windows.map.axes[i + 1].offset = 0;
  }
  map.axes.push_back(AffineMap::project(x.rank(), {x.rank() - 1}).axes[0]);
  const Tensor all = builder.full(x.shape(), scalar::Number::of(true));
  const Tensor lowest = builder.full(shape, scalar::fold_identity(Op::Max, x.dtype()));
  return select(builder.reindex(all, map, shape), builder.reindex(x, map, shape), lowest);
}

std::vector<int> spatial_axes(Tensor x) {
  std::vector<int> axes(static_cast<size_t>(x.rank() - 2));
  std::iota(axes.begin(), axes.end(), 1);
  return axes;
}

}  // namespace

Tensor max_pool(Tensor x, const Shape& size, const WindowOptions& options) {
  if (!is_picture("max_pool", x)) return {x.builder, {}};
  Builder& builder = *x.builder;
  auto windows = windows_of("max_pool", x, size, options);
  if (!windows) return builder.error(windows.error().message);
  return max(windows->view(surrounded(x, *windows)), windows->axes);
}

Tensor average_pool(Tensor x, const Shape& size, const WindowOptions& options) {
  if (!is_picture("average_pool", x)) return {x.builder, {}};
  Builder& builder = *x.builder;
  const auto windows = windows_of("average_pool", x, size, options);
  if (!windows) return builder.error(windows.error().message);
  if (!windows->leave()) return mean(windows->view(x), windows->axes);
  // One number for each window: the same for every example and channel.
  Windows counted = *windows;
  Shape ones = x.shape();
  ones.front() = ones.back() = counted.shape.front() = counted.shape.back() = 1;
  const Tensor count =
      sum(counted.view(builder.full(std::move(ones), scalar::Number::of(1.0f))), counted.axes);
  return sum(windows->view(x), windows->axes) * (1.0f / count);
}

Tensor global_max_pool(Tensor x) {
  return is_picture("global_max_pool", x) ? max(x, spatial_axes(x)) : Tensor{x.builder, {}};
}

Tensor global_average_pool(Tensor x) {
  return is_picture("global_average_pool", x) ? mean(x, spatial_axes(x)) : Tensor{x.builder, {}};
}

}  // namespace lathe::ops
