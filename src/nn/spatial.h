// What the layers over pictures [height, width, channels] share: options that are one number or one
// for each axis, and paddings by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nn/layer.h"
#include "ops/window.h"

namespace lathe::nn {

// One number for each spatial axis; a single one counts for all of them.
struct Sizes {
  std::vector<int64_t> values;

  Sizes() = default;
  Sizes(int64_t all) : values{all} {}
  Sizes(int64_t height, int64_t width) : values{height, width} {}
  bool empty() const { return values.empty(); }
};

struct WindowArguments {
  Sizes size, strides, dilations;
  std::string padding;  // "valid", "same"
};

// A window over [height, width].
struct Window2D {
  Shape size;
  ops::WindowOptions options;
  Shape out;  // [height, width] of the result
};

// Errors name the argument, `input` where it is no picture or too small.
Result<Window2D> window2d(std::string_view size_name, const WindowArguments& arguments,
                          const Shape& input);
Status check_picture(const Shape& input);

}  // namespace lathe::nn
