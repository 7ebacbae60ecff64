#include "lathe/ops/windows/window.h"

#include <algorithm>

#include "lathe/base/text.h"

namespace lathe::ops {

namespace {

Status check_list(std::string_view what, std::string_view name, const std::vector<int64_t>& list,
                  size_t count, int64_t least) {
  const bool small = std::ranges::any_of(list, [&](int64_t value) { return value < least; });
  if (list.size() == count && !small) return {};
  return fail(concat(what, ": ", name, ' ', bracketed(list), " must be ", count,
                     count == 1 ? " integer" : " integers", " of at least ", least,
                     ", one for each spatial axis"));
}

// Pads so that ceil(in / stride) windows fit.
void pad_same(WindowAxis& axis) {
  axis.out = (axis.in + axis.stride - 1) / axis.stride;
  const int64_t reach = (axis.out - 1) * axis.stride + (axis.size - 1) * axis.dilation + 1;
  axis.before = std::max<int64_t>(0, reach - axis.in) / 2;
}

}  // namespace

std::optional<Padding> find_padding(std::string_view text) {
  if (text == "valid") return Padding::Valid;
  if (text == "same") return Padding::Same;
  return std::nullopt;
}

bool WindowAxis::leaves() const {
  return before > 0 || (out - 1) * stride + (size - 1) * dilation - before >= in;
}

graph::Affine WindowAxis::input_index(int rank, int o, int k) const {
  graph::Affine affine{std::vector<int64_t>(rank, 0), -before};
  affine.coefficients[o] = stride;
  affine.coefficients[k] = dilation;
  return affine;
}

Result<std::vector<WindowAxis>> window_axes(std::string_view what, const std::vector<int64_t>& in,
                                            const std::vector<int64_t>& size,
                                            const WindowOptions& options) {
  const size_t count = in.size();
  const auto or_ones = [&](const std::vector<int64_t>& list) {
    if (list.size() > 1) return list;
    return std::vector<int64_t>(count, list.empty() ? 1 : list[0]);
  };
  const std::vector<int64_t> strides = or_ones(options.strides);
  const std::vector<int64_t> dilations = or_ones(options.dilations);
  LATHE_TRY(check_list(what, "window", size, count, 1));
  LATHE_TRY(check_list(what, "strides", strides, count, 1));
  LATHE_TRY(check_list(what, "dilations", dilations, count, 1));
  if (options.padding == Padding::Explicit) {
    LATHE_TRY(check_list(what, "padding before", options.before, count, 0));
    LATHE_TRY(check_list(what, "padding after", options.after, count, 0));
  }
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < count; ++i) {
    WindowAxis axis{in[i], size[i], strides[i], dilations[i], 0, 0};
    const int64_t span = (axis.size - 1) * axis.dilation + 1;
    int64_t padded = axis.in;
    switch (options.padding) {
      case Padding::Same:
        pad_same(axis);
        break;
      case Padding::Explicit:
        axis.before = options.before[i];
        padded += options.before[i] + options.after[i];
        [[fallthrough]];
      case Padding::Valid:
        axis.out = padded < span ? 0 : (padded - span) / axis.stride + 1;
        break;
    }
    if (axis.out < 1) {
      return fail(concat(what, ": a window of ", span, " does not fit spatial axis ", i,
                         " of size ", padded, "; use padding \"same\" or a smaller window"));
    }
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace lathe::ops
