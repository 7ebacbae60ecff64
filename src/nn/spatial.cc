#include "lathe/nn/spatial.h"

#include <algorithm>

#include "lathe/base/text.h"

namespace lathe::nn {

namespace {

constexpr std::string_view kSpatial[] = {"steps", "height, width", "depth, height, width"};
constexpr std::string_view kCounts[] = {"one", "two", "three"};

Result<ops::Padding> padding(const std::string& name) {
  if (const auto found = ops::find_padding(name)) return *found;
  return fail(concat("padding must be \"valid\" or \"same\", got \"", name.substr(0, 60), '"'));
}

}  // namespace

Sizes::Sizes() = default;
Sizes::Sizes(int64_t all) : values{all} {}
Sizes::Sizes(int64_t height, int64_t width) : values{height, width} {}
Sizes::Sizes(const Sizes&) = default;
Sizes::Sizes(Sizes&&) noexcept = default;
Sizes& Sizes::operator=(const Sizes&) = default;
Sizes& Sizes::operator=(Sizes&&) noexcept = default;
Sizes::~Sizes() = default;

Status check_spatial(size_t axes, const Shape& input) {
  if (input.size() == axes + 1) return {};
  return fail(concat("expects examples of shape [", kSpatial[axes - 1], ", channels], got ",
                     bracketed(input)));
}

Result<Shape> one_per_axis(size_t axes, std::string_view name, const Sizes& sizes, int64_t least) {
  Shape values = sizes.values;
  if (values.size() == 1) values.resize(axes, values[0]);
  const bool sound = std::ranges::all_of(
      values, [least](int64_t value) { return value >= least && value <= INT32_MAX; });
  if (values.size() == axes && sound) return values;
  return fail(concat(name, " must be ",
                     least == 1 ? "a positive integer" : "an integer of at least 0",
                     axes == 1 ? "" : concat(" or ", kCounts[axes - 1], " of them"), ", got ",
                     bracketed(sizes.values)));
}

Result<Window> window(size_t axes, std::string_view size_name, const WindowArguments& arguments,
                      const Shape& input) {
  LATHE_TRY(check_spatial(axes, input));
  Window window;
  LATHE_ASSIGN_OR_RETURN(window.size, one_per_axis(axes, size_name, arguments.size));
  LATHE_ASSIGN_OR_RETURN(window.options.strides, one_per_axis(axes, "strides", arguments.strides));
  LATHE_ASSIGN_OR_RETURN(window.options.dilations,
                         one_per_axis(axes, "dilationRate", arguments.dilations));
  if (axes == 1 && arguments.padding == "causal") {
    window.options.padding = ops::Padding::Explicit;
    window.options.before = {(window.size[0] - 1) * window.options.dilations[0]};
    window.options.after = {0};
  } else {
    LATHE_ASSIGN_OR_RETURN(window.options.padding, padding(arguments.padding));
  }
  const Shape spatial(input.begin(), input.end() - 1);
  LATHE_ASSIGN_OR_RETURN(const auto windows,
                         ops::window_axes(bracketed(input), spatial, window.size, window.options));
  for (const ops::WindowAxis& axis : windows) window.out.push_back(axis.out);
  return window;
}

}  // namespace lathe::nn
