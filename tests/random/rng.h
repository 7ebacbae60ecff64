// Random choices that are the same on every machine: sizes at the edges of tiles, shapes, options.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "lathe/graph/graph.h"
#include "lathe/ops/windows/window.h"

namespace lathe::random_tests {

using graph::Shape;

class Rng {
 public:
  explicit Rng(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  int64_t below(int64_t count) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(count));
  }
  int64_t from(int64_t min, int64_t max) { return min + below(max - min + 1); }
  bool chance(int percent) { return below(100) < percent; }
  double unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  // In [-max, max), an f32.
  double number(double max) { return static_cast<float>((2 * unit() - 1) * max); }
  template <class T, size_t N>
  const T& of(const std::array<T, N>& list) {
    return list[static_cast<size_t>(below(N))];
  }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

  // Small, or next to the edge of a tile; ≤ `max`. Rarely zero.
  int64_t size(int64_t max = 40, bool zero = true);
  // `rank` sizes with up to this many elements.
  Shape shape(int rank, int64_t elements, bool zero = true);
  std::vector<int> permutation(int count);
  // Some of the axes of a rank, ascending, at least one.
  std::vector<int> axes(int rank);
  // Strides, dilations and padding of windows over so many axes.
  ops::WindowOptions window(int axes, bool dilates = true, bool explicitly = true);

 private:
  std::mt19937_64 random_;
};

}  // namespace lathe::random_tests
