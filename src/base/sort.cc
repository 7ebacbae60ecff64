#include "lathe/base/sort.h"

#include <algorithm>
#include <numeric>

namespace lathe {

std::vector<int> sorted_indices(int count, const void* items,
                                bool (*before)(const void* items, int a, int b)) {
  const auto size = static_cast<size_t>(count);
  std::vector<int> order(size), merged(size);
  std::iota(order.begin(), order.end(), 0);
  for (size_t width = 1; width < size; width *= 2) {
    for (size_t begin = 0; begin < size; begin += 2 * width) {
      const size_t middle = std::min(begin + width, size), end = std::min(middle + width, size);
      size_t left = begin, right = middle;
      for (size_t k = begin; k < end; ++k) {
        const bool is_right_first =
            left == middle || (right < end && before(items, order[right], order[left]));
        merged[k] = order[is_right_first ? right++ : left++];
      }
    }
    order.swap(merged);
  }
  return order;
}

}  // namespace lathe
