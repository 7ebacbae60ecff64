#include "lathe/ops/windows/window_view.h"

#include <utility>

namespace lathe::ops {

using graph::AffineMap;
using graph::Builder;
using graph::Op;

namespace {

// Drops window offsets that are padding in every window: a pool ignores them.
void trim(WindowAxis& axis) {
  const int64_t last = (axis.out - 1) * axis.stride - axis.before;  // where the last window begins
  const int64_t first = last < 0 ? (-last + axis.dilation - 1) / axis.dilation : 0;
  const int64_t end = std::min(axis.size, (axis.in - 1 + axis.before) / axis.dilation + 1);
  if (first >= end) return;
  axis.before -= first * axis.dilation;
  axis.size = end - first;
}

}  // namespace

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
    const WindowAxis& axis = axes[i];
    windows.map.axes.push_back(axis.input_index(rank, 1 + i, 1 + count + i));
    windows.axes.push_back(1 + count + i);
  }
  windows.map.axes.push_back(AffineMap::project(rank, {rank - 1}).axes[0]);
  return windows;
}

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

}  // namespace lathe::ops
