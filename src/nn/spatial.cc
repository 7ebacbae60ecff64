#include "nn/spatial.h"

#include <algorithm>

#include "base/text.h"

namespace lathe::nn {

namespace {

Result<Shape> pair(std::string_view name, const Sizes& sizes) {
  Shape values = sizes.values;
  if (values.size() == 1) values.push_back(values[0]);
  const bool positive =
      std::ranges::all_of(values, [](int64_t value) { return value >= 1 && value <= INT32_MAX; });
  if (values.size() == 2 && positive) return values;
  return fail(
      concat(name, " must be a positive integer or two of them, got ", bracketed(sizes.values)));
}

Result<ops::Padding> padding(const std::string& name) {
  if (const auto found = ops::find_padding(name)) return *found;
  return fail(concat("padding must be \"valid\" or \"same\", got \"", name.substr(0, 60), '"'));
}

}  // namespace

Status check_picture(const Shape& input) {
  if (input.size() == 3) return {};
  return fail(concat("takes examples of shape [height, width, channels], got ", bracketed(input)));
}

Result<Window2D> window2d(std::string_view size_name, const WindowArguments& arguments,
                          const Shape& input) {
  TRY(check_picture(input));
  Window2D window;
  ASSIGN_OR_RETURN(window.size, pair(size_name, arguments.size));
  ASSIGN_OR_RETURN(window.options.strides, pair("strides", arguments.strides));
  ASSIGN_OR_RETURN(window.options.dilations, pair("dilationRate", arguments.dilations));
  ASSIGN_OR_RETURN(window.options.padding, padding(arguments.padding));
  const Shape spatial(input.begin(), input.end() - 1);
  ASSIGN_OR_RETURN(const auto axes,
                   ops::window_axes(bracketed(input), spatial, window.size, window.options));
  for (const ops::WindowAxis& axis : axes) window.out.push_back(axis.out);
  return window;
}

}  // namespace lathe::nn
