// The axes of a tensor over which windows slide, found in the map by which it is read.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::onnx_export {

// Window o of an axis reads the places o * stride + k * dilation - before; o or k may be -1: one
// window, one place.
struct Window {
  int axis = 0, o = -1, k = -1;
  int64_t stride = 1, dilation = 1, before = 0, in = 0;
  int64_t windows = 1, size = 1;

  int64_t reach() const { return (windows - 1) * stride + (size - 1) * dilation + 1; }
  int64_t after() const { return reach() - before - in; }
};

// The tensor with windows: what its axes are.
struct Picture {
  std::vector<int> axes;  // dimension of each axis, or -1 where it has windows
  std::vector<Window> windows;
};

// One member of each window.
std::vector<int64_t> each(const std::vector<Window>& windows, int64_t Window::*member);
// As the attribute has them: all before, then all behind.
std::vector<int64_t> pads_of(const std::vector<Window>& windows);
// Whether auto_pad SAME_UPPER gives these pads and as many windows.
bool is_same_upper(const std::vector<Window>& windows);

using Test = std::function<bool(int)>;

// One to three axes with windows, whose dimensions the tests tell apart; the others are dimensions
// of their own. Nothing of any other map.
std::optional<Picture> picture_of(const graph::AffineMap& map, const graph::Shape& extents,
                                  const graph::Shape& shape, const Test& is_outer,
                                  const Test& is_inner);

}  // namespace lathe::onnx_export
