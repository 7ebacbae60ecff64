#include "ops/pool.h"

#include <numeric>

#include "base/text.h"

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
  bool leave = false;  // x, somewhere

  Tensor view(Tensor x) const { return x.builder->reindex(x, map, shape); }
};

Result<Windows> windows_of(std::string_view what, Tensor x, Shape size, WindowOptions options) {
  const Shape& in = x.shape();
  if (size.size() == 1) size.resize(in.size() - 2, size[0]);
  if (options.strides.empty()) options.strides = size;
  ASSIGN_OR_RETURN(const std::vector<WindowAxis> axes,
                   window_axes(what, {in.begin() + 1, in.end() - 1}, size, options));
  Windows windows{{}, {in[0]}, {}, false};
  const int count = static_cast<int>(axes.size()), rank = 2 * count + 2;
  for (const WindowAxis& axis : axes) windows.shape.push_back(axis.out);
  for (const WindowAxis& axis : axes) windows.shape.push_back(axis.size);
  windows.shape.push_back(in.back());
  windows.map = AffineMap::project(rank, {0});
  for (int i = 0; i < count; ++i) {
    const WindowAxis& axis = axes[static_cast<size_t>(i)];
    windows.map.axes.push_back(axis.place(rank, 1 + i, 1 + count + i));
    windows.axes.push_back(1 + count + i);
    windows.leave = windows.leave || axis.leaves();
  }
  windows.map.axes.push_back(AffineMap::project(rank, {rank - 1}).axes[0]);
  return windows;
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
  const auto windows = windows_of("max_pool", x, size, options);
  if (!windows) return builder.error(windows.error().message);
  Tensor elements = windows->view(x);
  if (windows->leave) {
    const Tensor inside = windows->view(builder.full(x.shape(), scalar::Number::of(true)));
    const Tensor lowest = builder.full(elements.shape(), scalar::fold_identity(Op::Max, x.dtype()));
    elements = select(inside, elements, lowest);
  }
  return max(elements, windows->axes);
}

Tensor average_pool(Tensor x, const Shape& size, const WindowOptions& options) {
  if (!is_picture("average_pool", x)) return {x.builder, {}};
  Builder& builder = *x.builder;
  const auto windows = windows_of("average_pool", x, size, options);
  if (!windows) return builder.error(windows.error().message);
  if (!windows->leave) return mean(windows->view(x), windows->axes);
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
