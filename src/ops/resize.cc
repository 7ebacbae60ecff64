#include "ops/resize.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/text.h"

namespace lathe::ops {

using graph::Affine;
using graph::AffineMap;
using graph::Builder;
using graph::Contraction;
using graph::DType;

namespace {

// The places that a new place is made of, one beside the other.
struct Mix {
  int64_t first = 0;
  std::vector<float> weights = {};
};

struct Sampling {
  bool bilinear, align_corners, half_pixel;

  Mix at(int64_t place, int64_t from, int64_t to) const {
    const double scale = align_corners && to > 1
                             ? static_cast<double>(from - 1) / static_cast<double>(to - 1)
                             : static_cast<double>(from) / static_cast<double>(to);
    const auto last = static_cast<double>(from - 1);
    const double position = static_cast<double>(place) + (half_pixel ? 0.5 : 0);
    if (!bilinear) {
      const double source = scale * position;
      const double nearest = align_corners ? std::round(source) : std::floor(source);
      return {static_cast<int64_t>(std::clamp(nearest, 0.0, last)), {1}};
    }
    const double source = std::clamp(scale * position - (half_pixel ? 0.5 : 0), 0.0, last);
    const double below = std::floor(source);
    const auto share = static_cast<float>(source - below);
    if (share == 0) return {static_cast<int64_t>(below), {1}};
    return {static_cast<int64_t>(below), {1 - share, share}};
  }
};

// Axis 1 or 2 of x in another size. With new place = steps * block + phase and old place =
// stride * block + tap + lead, the matrix is [block, phase, tap].
Tensor resize_axis(Tensor x, size_t axis, int64_t size, const Sampling& sampling) {
  if (!x.valid() || x.shape()[axis] == size) return x;
  const Shape shape = x.shape();
  const int64_t from = shape[axis];
  int64_t blocks = 1;
  if (size % from == 0 || from % size == 0) blocks = std::min(size, from);
  const int64_t steps = size / blocks, stride = blocks == 1 ? 0 : from / blocks;
  std::vector<Mix> mixes;
  int64_t least = from, most = -from;
  for (int64_t place = 0; place < size; ++place) {
    mixes.push_back(sampling.at(place, from, size));
    const int64_t lead = mixes.back().first - stride * (place / steps);
    least = std::min(least, lead);
    most = std::max(most, lead + static_cast<int64_t>(mixes.back().weights.size()) - 1);
  }
  const int64_t taps = most - least + 1;
  std::vector<float> matrix(static_cast<size_t>(size * taps));
  for (int64_t place = 0; place < size; ++place) {
    const Mix& mix = mixes[static_cast<size_t>(place)];
    const int64_t tap = mix.first - stride * (place / steps) - least;
    std::ranges::copy(mix.weights, matrix.begin() + place * taps + tap);
  }
  const auto bytes = std::as_bytes(std::span(matrix));
  const Tensor weights =
      x.builder->constant(DType::F32, {blocks, steps, taps}, {bytes.begin(), bytes.end()});
  // n, block, phase, the other axis, c, tap
  constexpr int kRank = 6;
  const int64_t other = shape[3 - axis];
  Contraction c;
  c.extents = {shape[0], blocks, steps, other, shape[3], taps};
  c.lhs = AffineMap::project(kRank, {0, 1, 3, 4});
  c.lhs.axes[1] = Affine{{0, stride, 0, 0, 0, 1}, least};
  c.rhs = AffineMap::project(kRank, {1, 2, 5});
  c.out = AffineMap::project(kRank, {0, 1, 2, 3, 4});
  Shape out = {shape[0], blocks, steps, other, shape[3]};
  if (axis == 2) {
    std::swap(c.lhs.axes[1], c.lhs.axes[2]);
    c.out = AffineMap::project(kRank, {0, 3, 1, 2, 4});
    out = {shape[0], other, blocks, steps, shape[3]};
  }
  const Tensor resized = x.builder->contract(x, weights, std::move(c), std::move(out));
  Shape joined = shape;
  joined[axis] = size;
  return x.builder->reshape(resized, std::move(joined));
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
  return resize_axis(resize_axis(x, 1, size[0], sampling), 2, size[1], sampling);
}

}  // namespace

Tensor resize_bilinear(Tensor x, const Shape& size, bool align_corners, bool half_pixel) {
  return resize("resize_bilinear", x, size, {true, align_corners, half_pixel});
}

Tensor resize_nearest(Tensor x, const Shape& size, bool align_corners, bool half_pixel) {
  return resize("resize_nearest", x, size, {false, align_corners, half_pixel});
}

}  // namespace lathe::ops
