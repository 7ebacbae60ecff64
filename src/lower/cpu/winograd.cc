#include "lathe/lower/cpu/winograd.h"

#include <algorithm>
#include <cstdlib>
#include <numbers>

#include "lathe/base/check.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/schedule.h"

namespace lathe::lower::cpu {

namespace {

using Dimension = ContractionShape::Dimension;

constexpr int64_t kFewestChannels = 16;
// A transformed filter is larger: tiles of four pay where so many of them share it.
constexpr int64_t kFewestTiles = 32;
// The cost of a point of a tile without its products, in multiply-adds for each of its channels,
// and an element of a filter.
constexpr int64_t kPerPoint = 16, kPerWeight = 8, kPerFreshWeight = 24;

constexpr WinogradTransforms kTwo = {
    .tile = 2,
    .points = 4,
    .input = {{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}},
    .filter = {{{1, 0, 0}, {0.5F, 0.5F, 0.5F}, {0.5F, -0.5F, 0.5F}, {0, 0, 1}}},
    .output = {{{1, 0}, {1, 1}, {1, -1}, {0, -1}}},
};

// Of the points 0, +-1/sqrt 2, +-sqrt 2 and infinity, which round less than those with small
// integers.
constexpr float kRoot = std::numbers::sqrt2_v<float>;
constexpr WinogradTransforms kFour = {
    .tile = 4,
    .points = 6,
    .input = {{{1, 0, -2.5F, 0, 1, 0},
               {0, -kRoot, -2, kRoot / 2, 1, 0},
               {0, kRoot, -2, -kRoot / 2, 1, 0},
               {0, -kRoot / 2, -0.5F, kRoot, 1, 0},
               {0, kRoot / 2, -0.5F, -kRoot, 1, 0},
               {0, 1, 0, -2.5F, 0, 1}}},
    .filter = {{{1, 0, 0},
                {-2 / 3.F, -kRoot / 3, -1 / 3.F},
                {-2 / 3.F, kRoot / 3, -1 / 3.F},
                {1 / 6.F, kRoot / 6, 1 / 3.F},
                {1 / 6.F, -kRoot / 6, 1 / 3.F},
                {0, 0, 1}}},
    .output = {{{1, 0, 0, 0},
                {1, kRoot / 2, 0.5F, kRoot / 4},
                {1, -kRoot / 2, 0.5F, -kRoot / 4},
                {1, kRoot, 2, 2 * kRoot},
                {1, -kRoot, 2, -2 * kRoot},
                {0, 0, 0, 1}}},
};

int64_t image_step(const ContractionShape& shape, const Dimension& d) {
  return shape.wide == 0 ? d.rhs : d.lhs;
}

int64_t filter_step(const ContractionShape& shape, const Dimension& d) {
  return shape.wide == 0 ? d.lhs : d.rhs;
}

// The reduced dimension with three taps at distance `step` in the image; the channel's where it
// runs over neighbours, too.
int tap_of(const ContractionShape& shape, int channel, int64_t step) {
  const auto& reduced = shape.reduced;
  for (size_t i = 0; i < reduced.size(); ++i) {
    const bool neighbours = std::abs(image_step(shape, reduced[i])) == step;
    if (static_cast<int>(i) != channel && reduced[i].extent == kTaps && neighbours) {
      return static_cast<int>(i);
    }
  }
  const bool merged = reduced[channel].extent == kTaps * step;
  return reduced.size() == 2 && merged ? channel : -1;
}

}  // namespace

std::optional<Windows> find_windows(const ContractionShape& shape) {
  const auto& reduced = shape.reduced;
  if (shape.dtype != loop::DType::F32 || shape.inplace || shape.column < 0 || shape.narrow_moves ||
      reduced.size() < 2 || reduced.size() > 3) {
    return std::nullopt;
  }
  Windows windows;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (image_step(shape, reduced[i]) == 1) windows.channel = static_cast<int>(i);
  }
  if (windows.channel < 0) return std::nullopt;
  windows.channels = reduced[windows.channel].extent;
  size_t found = 0;
  for (size_t i = 0; i < shape.spatial.size(); ++i) {
    if (static_cast<int>(i) == shape.column) continue;
    if (filter_step(shape, shape.spatial[i]) != 0) return std::nullopt;
    const int64_t step = image_step(shape, shape.spatial[i]);
    const int tap = tap_of(shape, windows.channel, step);
    if (tap < 0) continue;
    if (found == 2) return std::nullopt;
    const bool flip = image_step(shape, reduced[tap]) < 0;
    windows.axes[found++] = {static_cast<int>(i), tap, flip};
    if (tap == windows.channel) windows.channels = step;
  }
  const bool complete = found == 2 && windows.axes[0].tap != windows.axes[1].tap;
  if (!complete || windows.channels < kLanes) return std::nullopt;
  return windows;
}

const WinogradTransforms& winograd_transforms(int64_t tile) {
  LATHE_CHECK(tile == 2 || tile == 4);
  return tile == 2 ? kTwo : kFour;
}

int32_t winograd_tile(const ContractionShape& shape) {
  if (!shape.windows) return 1;
  const int64_t in = shape.windows->channels, out = shape.columns();
  if (std::min(in, out) < kFewestChannels) return 1;
  const auto extent = [&](size_t axis) {
    return shape.spatial[shape.windows->axes[axis].index].extent;
  };
  const int64_t pixels = shape.multiply_adds() / (kTaps * kTaps * in * out);
  const int64_t images = pixels / (extent(0) * extent(1));
  const auto tiles = [&](int64_t tile) {
    return images * ((extent(0) + tile - 1) / tile) * ((extent(1) + tile - 1) / tile);
  };
  const auto cost = [&](int64_t points, int64_t windows) {
    const int64_t weight = shape.wide_constant ? kPerWeight : kPerFreshWeight;
    return points * ((windows + weight) * in * out + windows * kPerPoint * (in + out));
  };
  if (shape.wide_constant && tiles(4) >= kFewestTiles) return 4;
  const int64_t direct = kTaps * kTaps * (pixels + kPerWeight) * in * out;
  return cost(16, tiles(2)) < direct ? 2 : 1;
}

}  // namespace lathe::lower::cpu
