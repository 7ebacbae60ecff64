#include "lathe/ops/images/resize.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "lathe/base/text.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Op;

namespace {

// The source positions around a target position, and the interpolation weight.
struct Mix {
  int64_t below, above;
  float share;
};

struct Sampling {
  bool bilinear, align_corners, half_pixel;

  Mix at(int64_t target, int64_t from, int64_t to) const {
    const double scale = align_corners && to > 1
                             ? static_cast<double>(from - 1) / static_cast<double>(to - 1)
                             : static_cast<double>(from) / static_cast<double>(to);
    const auto last = static_cast<double>(from - 1);
    const double position = static_cast<double>(target) + (half_pixel ? 0.5 : 0);
    if (!bilinear) {
      const double source = scale * position;
      const double rounded = align_corners ? std::round(source) : std::floor(source);
      const auto nearest = static_cast<int64_t>(std::clamp(rounded, 0.0, last));
      return {nearest, nearest, 0};
    }
    const double source = std::clamp(scale * position - (half_pixel ? 0.5 : 0), 0.0, last);
    const double floor = std::floor(source);
    const auto share = static_cast<float>(source - floor);
    const auto below = static_cast<int64_t>(floor);
    return {below, share == 0 ? below : below + 1, share};
  }
};

// Axis 1 or 2 of x in another size: elements gathered at constant indices, mixed with constant
// weights.
Tensor resize_axis(Tensor x, int axis, int64_t size, const Sampling& sampling) {
  const int64_t from = x.valid() ? x.shape()[axis] : size;
  if (from == size) return x;
  std::vector<int32_t> below, above;
  std::vector<float> shares;
  for (int64_t target = 0; target < size; ++target) {
    const Mix mix = sampling.at(target, from, size);
    below.push_back(static_cast<int32_t>(mix.below));
    above.push_back(static_cast<int32_t>(mix.above));
    shares.push_back(mix.share);
  }
  Shape along(4, 1), shape = x.shape();
  along[axis] = shape[axis] = size;
  const auto spread = [&](DType dtype, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return x.builder->broadcast_to(x.builder->constant(dtype, along, {bytes.begin(), bytes.end()}),
                                   shape);
  };
  const Tensor first = x.builder->gather(x, spread(DType::I32, below), axis);
  if (!sampling.bilinear) return first;
  const Tensor second = x.builder->gather(x, spread(DType::I32, above), axis);
  const Tensor mixed[] = {second - first, spread(DType::F32, shares), first};
  return x.builder->map(Op::MulAdd, mixed);
}

Tensor resize(std::string_view what, Tensor x, const Shape& size, const Sampling& sampling) {
  if (!x.valid()) return x;
  Builder& builder = *x.builder;
  if (x.rank() != 4 || x.dtype() != DType::F32) {
    return builder.error(concat(what, ": x must be f32 [n, height, width, channels], not ",
                                scalar::text(x.dtype()), bracketed(x.shape())));
  }
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || graph::element_count(x.shape()) == 0) {
    return builder.error(concat(what, ": size ", bracketed(size), " for x ", bracketed(x.shape()),
                                " must be [height, width], both at least 1"));
  }
  if (sampling.align_corners && sampling.half_pixel) {
    return builder.error(concat(what, ": alignCorners and halfPixelCenters exclude each other"));
  }
  // Rows last: there entire rows are mixed at once.
  return resize_axis(resize_axis(x, 2, size[1], sampling), 1, size[0], sampling);
}

}  // namespace

Tensor resize_bilinear(Tensor x, const Shape& size, bool align_corners, bool half_pixel) {
  return resize("resize_bilinear", x, size, {true, align_corners, half_pixel});
}

Tensor resize_nearest(Tensor x, const Shape& size, bool align_corners, bool half_pixel) {
  return resize("resize_nearest", x, size, {false, align_corners, half_pixel});
}

}  // namespace lathe::ops
