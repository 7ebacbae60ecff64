// The elements of windows over a channels-last tensor, as a view with separate axes: what pools
// fold.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "lathe/graph/builder.h"
#include "lathe/ops/windows/window.h"

namespace lathe::ops {

using graph::Shape;
using graph::Tensor;

// Shape [n, out…, size…, c], and the axes of the size.
struct Windows {
  graph::AffineMap map;
  Shape shape;
  std::vector<int> axes;
  std::vector<WindowAxis> spatial;

  bool leave() const { return std::ranges::any_of(spatial, &WindowAxis::leaves); }
  Tensor view(Tensor x) const { return x.builder->reindex(x, map, shape); }
};

// Of x [n, spatial…, c], without the offsets that are padding in every window. A single size
// applies for all axes, no strides mean the size.
Result<Windows> windows_of(std::string_view what, Tensor x, Shape size, WindowOptions options);

// A copy of x with the lowest number around it, so that no window leaves it; `windows` are then of
// that.
Tensor surrounded(Tensor x, Windows& windows);

}  // namespace lathe::ops
