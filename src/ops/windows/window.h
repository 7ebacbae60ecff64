// Windows that slide over the spatial axes of a channels-last tensor [n, spatial…, c]: the
// arithmetic of sizes that convolutions and pools share. It knows nothing of what is computed in a
// window.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::ops {

// Axes that a window slides over.
inline constexpr int kMaxSpatialAxes = 3;

enum class Padding : uint8_t {
  Valid,     // only windows that are inside
  Same,      // ceil(size / stride) windows; an odd padding element is at the end, as in TensorFlow
  Explicit,  // `before` and `after` zeros
};

// "valid" or "same".
std::optional<Padding> find_padding(std::string_view text);

// One number for each spatial axis, one for all of them, or none.
struct WindowOptions {
  std::vector<int64_t> strides = {};    // none: 1, for pools the size of the window
  std::vector<int64_t> dilations = {};  // none: 1
  Padding padding = Padding::Valid;
  std::vector<int64_t> before = {}, after = {};  // Explicit only
};

// Window o of this axis reads the indices o * stride + k * dilation - before, k < size.
struct WindowAxis {
  int64_t in, size, stride, dilation, before, out;

  bool leaves() const;  // some window reaches outside
  // That index, for dimension `o` and `k` of an iteration space of this rank.
  graph::Affine input_index(int rank, int o, int k) const;
};

// `in` and `size` have one element for each spatial axis. Errors name `what` and the sizes.
Result<std::vector<WindowAxis>> window_axes(std::string_view what, const std::vector<int64_t>& in,
                                            const std::vector<int64_t>& size,
                                            const WindowOptions& options);

}  // namespace lathe::ops
