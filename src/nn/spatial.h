// What the layers over [spatial…, channels] share, with one to three spatial axes: options that are
// one number or one for each axis, and paddings by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/nn/layer.h"
#include "lathe/ops/windows/window.h"

namespace lathe::nn {

// One number for each spatial axis; a single one counts for all of them.
struct Sizes {
  std::vector<int64_t> values;

  Sizes();
  Sizes(int64_t all);
  Sizes(int64_t height, int64_t width);
  // Out of line: many structs of layer options have several.
  Sizes(const Sizes&);
  Sizes(Sizes&&) noexcept;
  Sizes& operator=(const Sizes&);
  Sizes& operator=(Sizes&&) noexcept;
  ~Sizes();
  bool empty() const { return values.empty(); }
};

struct WindowArguments {
  Sizes size, strides, dilations;
  std::string padding;  // "valid", "same"; "causal" over one axis
};

// A window over the spatial axes.
struct Window {
  Shape size;
  ops::WindowOptions options;
  Shape out;  // spatial axes of the result
};

// Errors name the argument, `input` where it is not [spatial…, channels] or too small.
Result<Window> window(size_t axes, std::string_view size_name, const WindowArguments& arguments,
                      const Shape& input);
// An error unless an example has this many spatial axes, then channels.
Status check_spatial(size_t axes, const Shape& input);
inline Status check_image(const Shape& input) { return check_spatial(2, input); }
// The numbers of one option for `axes` axes; each at least `least`.
Result<Shape> one_per_axis(size_t axes, std::string_view name, const Sizes& sizes,
                           int64_t least = 1);

}  // namespace lathe::nn
