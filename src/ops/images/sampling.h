// Images sampled at fractional positions (grid sampling).
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

enum class Interpolation : uint8_t { Nearest, Linear, Cubic };
// Values outside of an image: zeros, its border, or its reflection.
enum class OutOfBounds : uint8_t { Zeros, Border, Reflection };

struct SampleOptions {
  Interpolation interpolation = Interpolation::Linear;
  OutOfBounds out_of_bounds = OutOfBounds::Zeros;
  bool align_corners =
      false;  // reflection at the centers of the outer elements, not at their edges
};

// x [n, c, spatial…] of floats at positions [n, points], one tensor for each spatial axis, in units
// of elements -> [n, c, points]. Keys' cubic has the coefficient -0.75. The gradient by the
// positions is that of the interpolation.
Tensor sample(Tensor x, const std::vector<Tensor>& positions, const SampleOptions& options = {});

}  // namespace lathe::ops
