// Operators of ONNX that sample images [n, c, spatial…] at coordinates, or rearrange them in
// windows or blocks.
#include <algorithm>
#include <cmath>
#include <span>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/operators/windows.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/images/sampling.h"
#include "lathe/ops/linalg/einsum.h"

namespace lathe::onnx::rows {

namespace {

constexpr int64_t kMaxBlock = 1 << 15;

// Whether these are sizes of an image whose product does not overflow.
bool are_sizes(std::span<const int64_t> sizes) {
  int64_t elements = 1;
  for (const int64_t each : sizes) {
    if (each < 0 || each > 1 << 24 || elements > 1 << 30) return false;
    elements *= std::max<int64_t>(each, 1);
  }
  return elements <= 1 << 30;
}

// x [..., count] as its `count` parts, each [rows, rest].
std::vector<Tensor> last_parts(Tensor x, int64_t rows) {
  Builder& builder = *x.builder;
  const int64_t count = x.shape().back();
  const Tensor flat = builder.reshape(x, {rows, -1, count});
  const int64_t rest = flat.shape()[1];
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < count; ++k) {
    graph::AffineMap map = graph::AffineMap::project(2, {0, 1});
    map.axes.push_back({{0, 0}, k});
    parts.push_back(builder.reindex(flat, std::move(map), {rows, rest}));
  }
  return parts;
}

}  // namespace

Result<Values> grid_sample(Call& call) {
  const Tensor x = call.tensor(0), grid = call.tensor(1);
  const Shape in = x.shape(), at = grid.shape();
  const size_t axes = in.size() < 3 ? 0 : in.size() - 2;
  if (axes == 0 || at.size() != in.size() || at[0] != in[0] ||
      at.back() != static_cast<int64_t>(axes)) {
    return call.reject(concat("x ", bracketed(in), " and grid ", bracketed(at),
                              " must be [n, c, spatial…] and [n, points…, spatial axes]"));
  }
  Shape shape{in[0], in[1]};
  shape.insert(shape.end(), at.begin() + 1, at.end() - 1);
  if (graph::element_count(shape) == 0) {
    return Values{x.builder->full(shape, scalar::Number::from(x.dtype(), 0))};
  }
  LATHE_ASSIGN_OR_RETURN(const auto mode, call.choice_of("mode", {"linear", "bilinear", "nearest",
                                                                  "cubic", "bicubic"}));
  LATHE_ASSIGN_OR_RETURN(const auto outside,
                         call.choice_of("padding_mode", {"zeros", "border", "reflection"}));
  ops::SampleOptions options{.align_corners = call.int_of("align_corners", 0) != 0};
  if (mode == "nearest") options.interpolation = ops::Interpolation::Nearest;
  if (mode == "bicubic" || mode == "cubic") options.interpolation = ops::Interpolation::Cubic;
  if (outside == "border") options.out_of_bounds = ops::OutOfBounds::Border;
  if (outside == "reflection") options.out_of_bounds = ops::OutOfBounds::Reflection;
  // The last number of the grid belongs to the first spatial axis.
  const Tensor wide = in_floats(x);
  const std::vector<Tensor> parts = last_parts(cast_like(grid, wide), in[0]);
  std::vector<Tensor> coordinates;
  for (size_t k = 0; k < axes; ++k) {
    const Tensor each = parts[axes - 1 - k];
    const auto size = static_cast<float>(in[k + 2]);
    coordinates.push_back(options.align_corners ? (each + 1.0f) / 2.0f * (size - 1)
                                                : ((each + 1.0f) * size - 1.0f) / 2.0f);
  }
  return Values{cast_like(x.builder->reshape(ops::sample(wide, coordinates, options), shape), x)};
}

// The coordinates of a grid [n, spatial…, axes], transformed by theta [n, axes, axes + 1].
Result<Values> affine_grid(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const std::vector<int64_t> size, call.integers(1));
  const Tensor theta = call.tensor(0);
  const size_t axes = size.size() < 3 ? 0 : size.size() - 2;
  const auto count = static_cast<int64_t>(axes);
  if (axes == 0 || theta.shape() != Shape{size[0], count, count + 1} ||
      !are_sizes(std::span(size).subspan(2))) {
    return call.reject(concat("theta ", bracketed(theta.shape()), " and size ", bracketed(size),
                              " must be [n, axes, axes + 1] and [n, c, spatial…]"));
  }
  const bool at_corners = call.int_of("align_corners", 0) != 0;
  Builder& builder = *theta.builder;
  const Shape spatial(size.begin() + 2, size.end());
  Shape padded_shape = spatial, result = spatial;
  padded_shape.push_back(1);
  // [spatial…, axes + 1]: the numbers of the last axis come first, then ones.
  std::vector<Tensor> columns;
  for (size_t k = axes; k-- > 0;) {
    const auto extent = static_cast<double>(spatial[k]);
    std::vector<double> values;
    for (int64_t o = 0; o < spatial[k]; ++o) {
      const auto position = static_cast<double>(o);
      const double corner = extent == 1 ? 1 : 2 * position / (extent - 1) - 1;
      values.push_back(at_corners ? corner : (2 * position + 1) / extent - 1);
    }
    Shape along(axes, 1);
    along[k] = spatial[k];
    const Tensor column = numbers(builder, theta.dtype(), along, values);
    columns.push_back(builder.reshape(builder.broadcast_to(column, spatial), {-1}));
  }
  const int64_t coordinates = graph::element_count(spatial);
  // Term by term, which adds no padding: sums over so few are no product.
  Tensor grid;
  const Tensor flat = builder.reshape(theta, {size[0], 1, count, count + 1});
  for (size_t k = 0; k <= axes; ++k) {
    graph::AffineMap map = graph::AffineMap::project(3, {0, 1, 2});
    map.axes[1] = {{0, 0, 0}, 0};
    map.axes.push_back({{0, 0, 0}, static_cast<int64_t>(k)});
    Tensor term = builder.reindex(flat, std::move(map), {size[0], coordinates, count});
    if (k < axes) term = term * builder.reshape(columns[k], {1, coordinates, 1});
    grid = k == 0 ? term : grid + term;
  }
  result.insert(result.begin(), size[0]);
  result.push_back(count);
  return Values{builder.reshape(grid, result)};
}

// Scatters columns [n, c * window, positions] with addition.
Result<Values> col2im(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const std::vector<int64_t> image, call.integers(1));
  LATHE_ASSIGN_OR_RETURN(const std::vector<int64_t> size, call.integers(2));
  const Tensor x = call.tensor(0);
  const Shape in = x.shape();
  if (!are_sizes(image) || !are_sizes(size)) {
    return call.reject(
        concat("cannot gather windows ", bracketed(size), " of an image ", bracketed(image)));
  }
  LATHE_ASSIGN_OR_RETURN(const Window window, window_of(call, image, size));
  const int64_t taps = graph::element_count(size);
  if (in.size() != 3 || taps < 1 || in[1] % taps != 0 ||
      in[2] != graph::element_count(window.out)) {
    return call.reject(concat("x ", bracketed(in), " must be [n, c * ", taps, ", ",
                              graph::element_count(window.out), "] for windows ", bracketed(size),
                              " of an image ", bracketed(image)));
  }
  Builder& builder = *x.builder;
  const size_t axes = image.size();
  Shape split{in[0], in[1] / taps}, shape = split;
  split.insert(split.end(), size.begin(), size.end());
  split.insert(split.end(), window.out.begin(), window.out.end());
  shape.insert(shape.end(), image.begin(), image.end());
  const int rank = static_cast<int>(split.size());
  std::vector<int> all(split.size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
  graph::Contraction contraction{
      split, graph::AffineMap::project(rank, {0, 1}), graph::AffineMap::project(rank, all), {}};
  for (size_t k = 0; k < axes; ++k) {
    graph::Affine position{std::vector<int64_t>(split.size(), 0), -window.options.before[k]};
    position.coefficients[2 + k] = window.options.dilations[k];
    position.coefficients[2 + axes + k] = window.options.strides[k];
    contraction.out.axes.push_back(std::move(position));
  }
  const Tensor one = builder.full({}, scalar::Number::from(x.dtype(), 1));
  return Values{cast_like(
      builder.contract(builder.reshape(x, split), one, std::move(contraction), shape), x)};
}

// Windows whose elements are displaced by offsets [n, groups * window * 2, out…].
Result<Values> deform_conv(Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1), offsets = call.tensor(2);
  const Shape in = x.shape(), w = weights.shape();
  const int64_t groups = call.int_of("group", 1), parts = call.int_of("offset_group", 1);
  if (in.size() != 4 || w.size() != 4 || groups < 1 || parts < 1 || in[1] != w[1] * groups ||
      w[0] % groups != 0 || in[1] % parts != 0) {
    return call.reject(concat("x ", bracketed(in), " and weights ", bracketed(w), " must be ",
                              "[n, c, height, width] and [m, c / group, window…] with ", groups,
                              " groups and ", parts, " groups of offsets"));
  }
  const Shape size = spatial_sizes(w);
  LATHE_ASSIGN_OR_RETURN(const Window window, window_of(call, spatial_sizes(in), size));
  const int64_t n = in[0], taps = size[0] * size[1], out = window.out[0] * window.out[1];
  if (offsets.shape() != Shape{n, parts * taps * 2, window.out[0], window.out[1]}) {
    return call.reject(concat("offsets ", bracketed(offsets.shape()), " do not fit ", taps,
                              " positions of windows ", bracketed(window.out)));
  }
  Builder& builder = *x.builder;
  const Tensor wide = in_floats(x);
  const Tensor moved = builder.reshape(
      cast_like(offsets, wide), {n * parts, size[0], size[1], 2, window.out[0], window.out[1]});
  std::vector<Tensor> coordinates;
  for (size_t k = 0; k < 2; ++k) {
    graph::AffineMap map = graph::AffineMap::project(5, {0, 1, 2});
    map.axes.push_back({std::vector<int64_t>(5, 0), static_cast<int64_t>(k)});
    for (const int d : {3, 4}) map.axes.push_back(graph::AffineMap::project(5, {d}).axes[0]);
    const Shape shape{n * parts, size[0], size[1], window.out[0], window.out[1]};
    const Tensor offset = builder.reindex(moved, std::move(map), shape);
    const auto along = [&](int axis, int64_t step) {
      const Tensor position = cast_like(builder.iota(shape, axis), wide);
      return position * number_like(wide, static_cast<double>(step));
    };
    const Tensor tap = along(static_cast<int>(k) + 1, window.options.dilations[k]);
    const Tensor begin = along(static_cast<int>(k) + 3, window.options.strides[k]);
    const Tensor before = number_like(wide, static_cast<double>(window.options.before[k]));
    coordinates.push_back(builder.reshape(offset + tap + begin - before, {n * parts, taps * out}));
  }
  const Tensor images = builder.reshape(wide, {n * parts, in[1] / parts, in[2], in[3]});
  Tensor columns = ops::sample(images, coordinates);
  if (call.has(4)) {
    const Tensor mask =
        builder.reshape(cast_like(call.tensor(4), wide), {n * parts, 1, taps * out});
    columns = columns * mask;
  }
  const Tensor split = builder.reshape(columns, {n, groups, w[1], taps, out});
  const Tensor by = builder.reshape(cast_like(weights, wide), {groups, w[0] / groups, w[1], taps});
  const Tensor y = ops::einsum("ngckp,gmck->ngmp", {split, by});
  Tensor result = builder.reshape(y, {n, w[0], window.out[0], window.out[1]});
  if (call.has(3)) {
    result = result + builder.reshape(cast_like(call.tensor(3), result), {w[0], 1, 1});
  }
  return Values{cast_like(result, x)};
}

Result<Values> depth_to_space(Call& call) {
  const Tensor x = call.tensor(0);
  const Shape in = x.shape();
  const int64_t b = call.int_of("blocksize", 0);
  if (in.size() != 4 || b < 1 || b > kMaxBlock || in[1] % (b * b) != 0) {
    return call.reject(concat("x ", bracketed(in), " must be [n, c, h, w] with channels in blocks ",
                              "of ", b, " by ", b));
  }
  Builder& builder = *x.builder;
  const int64_t c = in[1] / (b * b);
  LATHE_ASSIGN_OR_RETURN(const auto mode, call.choice_of("mode", {"DCR", "CRD"}));
  const bool rows_first = mode == "DCR";
  const Tensor split =
      rows_first
          ? builder.permute(builder.reshape(x, {in[0], b, b, c, in[2], in[3]}), {0, 3, 4, 1, 5, 2})
          : builder.permute(builder.reshape(x, {in[0], c, b, b, in[2], in[3]}), {0, 1, 4, 2, 5, 3});
  return Values{Value(builder.reshape(split, {in[0], c, in[2] * b, in[3] * b}), call.type(0))};
}

Result<Values> space_to_depth(Call& call) {
  const Tensor x = call.tensor(0);
  const Shape in = x.shape();
  const int64_t b = call.int_of("blocksize", 0);
  if (in.size() != 4 || b < 1 || b > kMaxBlock || in[2] % b != 0 || in[3] % b != 0) {
    return call.reject(
        concat("x ", bracketed(in), " must be [n, c, h, w] in blocks of ", b, " by ", b));
  }
  Builder& builder = *x.builder;
  const Tensor split = builder.reshape(x, {in[0], in[1], in[2] / b, b, in[3] / b, b});
  return Values{Value(builder.reshape(builder.permute(split, {0, 3, 5, 1, 2, 4}),
                                      {in[0], in[1] * b * b, in[2] / b, in[3] / b}),
                      call.type(0))};
}

Result<Values> image_decoder(Call& call) {
  return call.reject(
      "encoded images are decoded by the page (createImageBitmap): pass the pixels to the model");
}

}  // namespace lathe::onnx::rows
