// Pictures read at places between their elements.
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

enum class Interpolation : uint8_t { Nearest, Linear, Cubic };
// What lies around a picture: nothing, its border, or its mirror image.
enum class Outside : uint8_t { Zeros, Border, Reflection };

struct SampleOptions {
  Interpolation interpolation = Interpolation::Linear;
  Outside outside = Outside::Zeros;
  bool at_centres =
      false;  // mirrors stand at the centres of the outer elements, not at their edges
};

// x [n, c, spatial…] of floats at places [n, places], one tensor for each spatial axis, counted in
// elements -> [n, c, places]. Keys' cubic has the coefficient -0.75. The gradient by the places is
// that of the interpolation.
Tensor sample(Tensor x, const std::vector<Tensor>& places, const SampleOptions& options = {});

}  // namespace lathe::ops
