#include "rng.h"

#include <algorithm>
#include <numeric>

namespace lathe::random_tests {

int64_t Rng::size(int64_t max, bool zero) {
  static constexpr std::array<int64_t, 15> kEdges = {3,  4,  5,  7,  8,  9,  12, 13,
                                                     15, 16, 17, 31, 32, 33, 40};
  if (zero && below(150) == 0) return 0;
  const int64_t size = chance(55) ? from(1, 9) : chance(70) ? of(kEdges) : from(1, 40);
  return size <= max ? size : from(1, std::max<int64_t>(1, max));
}

Shape Rng::shape(int rank, int64_t elements, bool zero) {
  Shape shape(static_cast<size_t>(rank), 1);
  for (const int axis : permutation(rank)) {
    shape[static_cast<size_t>(axis)] = size(std::max<int64_t>(1, elements), zero);
    elements /= std::max<int64_t>(1, shape[static_cast<size_t>(axis)]);
  }
  return shape;
}

std::vector<int> Rng::permutation(int count) {
  std::vector<int> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }
  return order;
}

std::vector<int> Rng::axes(int rank) {
  std::vector<int> axes = permutation(rank);
  axes.resize(static_cast<size_t>(from(1, rank)));
  std::ranges::sort(axes);
  return axes;
}

ops::WindowOptions Rng::window(int axes, bool dilates, bool explicitly) {
  ops::WindowOptions options;
  const bool strided = chance(40), dilated = dilates && !strided && chance(30);
  for (int i = 0; i < axes; ++i) {
    options.strides.push_back(strided ? from(1, 3) : 1);
    options.dilations.push_back(dilated ? from(1, 3) : 1);
  }
  options.padding = chance(50) ? ops::Padding::Same : ops::Padding::Valid;
  if (explicitly && chance(25)) {
    options.padding = ops::Padding::Explicit;
    for (int i = 0; i < axes; ++i) {
      options.before.push_back(below(3));
      options.after.push_back(below(3));
    }
  }
  return options;
}

}  // namespace lathe::random_tests
