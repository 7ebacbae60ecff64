// Finds sliding windows in the affine map by which a tensor is read.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::onnx_export {

// Window o of an axis reads the indices o * stride + k * dilation - before; o or k may be -1: one
// window, or windows of size one.
struct Window {
  int axis = 0, o = -1, k = -1;
  int64_t stride = 1, dilation = 1, before = 0, in = 0;
  int64_t windows = 1, size = 1;

  int64_t reach() const { return (windows - 1) * stride + (size - 1) * dilation + 1; }
  int64_t after() const { return reach() - before - in; }
};

// A tensor that is read by windows: the roles of its axes.
struct WindowedTensor {
  std::vector<int> axes;  // dimension of each axis, or -1 for windows
  std::vector<Window> windows;
};

// One member of each window.
std::vector<int64_t> each(const std::vector<Window>& windows, int64_t Window::*member);
// The attribute `pads`: all before, then all after.
std::vector<int64_t> pads_of(const std::vector<Window>& windows);
// Whether auto_pad SAME_UPPER results in these pads and as many windows.
bool is_same_upper(const std::vector<Window>& windows);

using Test = std::function<bool(int)>;

// One to three axes with windows, whose dimensions the tests distinguish; the others are separate
// dimensions. Nothing for any other map.
std::optional<WindowedTensor> match_windows(const graph::AffineMap& map,
                                            const graph::Shape& extents, const graph::Shape& shape,
                                            const Test& is_outer, const Test& is_inner);

}  // namespace lathe::onnx_export
