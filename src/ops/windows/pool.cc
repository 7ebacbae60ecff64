#include "lathe/ops/windows/pool.h"

#include <numeric>

#include "lathe/base/text.h"
#include "lathe/ops/windows/window_view.h"

namespace lathe::ops {

using graph::Builder;

namespace {

bool check_rank(std::string_view what, Tensor x) {
  if (!x.valid()) return false;
  if (x.rank() < 3 || x.rank() > kMaxSpatialAxes + 2) {
    x.builder->error(concat(what, ": x ", bracketed(x.shape()),
                            " must have 3 (1D), 4 (2D) or 5 (3D) axes: [n, spatial…, channels]"));
  }
  return x.builder->ok();
}

std::vector<int> spatial_axes(Tensor x) {
  std::vector<int> axes(x.rank() - 2);
  std::iota(axes.begin(), axes.end(), 1);
  return axes;
}

}  // namespace

Tensor max_pool(Tensor x, const Shape& size, const WindowOptions& options) {
  if (!check_rank("max_pool", x)) return {x.builder, {}};
  Builder& builder = *x.builder;
  auto windows = windows_of("max_pool", x, size, options);
  if (!windows) return builder.error(windows.error().message);
  Tensor seen = windows->view(surrounded(x, *windows));
  if (scalar::is_float(x.dtype())) {
    const Tensor lowest = builder.full({}, scalar::Number::lowest(x.dtype()));
    seen = select(lowest < seen, seen, lowest);  // no NaN
  }
  return builder.exclusive(max(seen, windows->axes));
}

Tensor average_pool(Tensor x, const Shape& size, const WindowOptions& options) {
  if (!check_rank("average_pool", x)) return {x.builder, {}};
  Builder& builder = *x.builder;
  const auto windows = windows_of("average_pool", x, size, options);
  if (!windows) return builder.error(windows.error().message);
  if (!windows->leave()) return mean(windows->view(x), windows->axes);
  // A window counts rows times columns: the factor of one axis is a constant for any image size.
  Tensor result = sum(windows->view(x), windows->axes);
  for (size_t i = 0; i < windows->spatial.size(); ++i) {
    const WindowAxis& axis = windows->spatial[i];
    const Tensor all = builder.full({axis.in}, scalar::Number::of(1.0f));
    const Tensor inside =
        builder.reindex(all, {{axis.input_index(2, 0, 1)}}, {axis.out, axis.size});
    Shape shape(result.shape().size(), 1);
    shape[i + 1] = axis.out;
    result = result * builder.reshape(1.0f / sum(inside, {1}), shape);
  }
  return result;
}

Tensor global_max_pool(Tensor x) {
  if (!check_rank("global_max_pool", x)) return {x.builder, {}};
  return x.builder->exclusive(max(x, spatial_axes(x)));
}

Tensor global_average_pool(Tensor x) {
  return check_rank("global_average_pool", x) ? mean(x, spatial_axes(x)) : Tensor{x.builder, {}};
}

}  // namespace lathe::ops
