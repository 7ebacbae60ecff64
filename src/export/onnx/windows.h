// Finds sliding windows in the affine map by which a tensor is read. windows.cc also emits
// convolutions: emit_convolution() of emitter.h.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::onnx_export {

// The windows over an axis. Window o reads the indices o * stride + k * dilation - pad_before,
// where o is the index of output_dim and k that of kernel_dim.
struct Window {
  int axis = 0;
  int output_dim = -1;  // -1: there is one window
  int kernel_dim = -1;  // -1: kernel_size is 1
  int64_t stride = 1, dilation = 1;
  int64_t pad_before = 0;  // negative: leading elements that no window reads
  int64_t input_size = 0;
  int64_t window_count = 1, kernel_size = 1;

  // The number of indices from the first to the last one read, padding included.
  int64_t reach() const { return (window_count - 1) * stride + (kernel_size - 1) * dilation + 1; }
  // Negative: trailing elements that no window reads.
  int64_t pad_after() const { return reach() - pad_before - input_size; }
};

// A tensor that is read by windows: the roles of its axes.
struct WindowedTensor {
  std::vector<int> axes;  // dimension of each axis, or -1 for windows
  std::vector<Window> windows;
};

// The value of a member, for each window.
std::vector<int64_t> member_of_each(const std::vector<Window>& windows, int64_t Window::*member);
// The attribute `pads`: pad_before of each window, then pad_after of each, at least 0.
std::vector<int64_t> pads_of(const std::vector<Window>& windows);
// Whether auto_pad SAME_UPPER results in these pads and as many windows.
bool is_same_upper(const std::vector<Window>& windows);

using DimensionPredicate = std::function<bool(int)>;

// Matches a map of which one to three axes are read by windows, and each other axis is a separate
// dimension. An output dimension of a window satisfies is_outer, a kernel dimension is_inner.
// nullopt for any other map.
std::optional<WindowedTensor> match_windows(const graph::AffineMap& map,
                                            const graph::Shape& extents, const graph::Shape& shape,
                                            const DimensionPredicate& is_outer,
                                            const DimensionPredicate& is_inner);

}  // namespace lathe::onnx_export
