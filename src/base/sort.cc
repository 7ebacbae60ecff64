#include "lathe/base/sort.h"

#include <algorithm>
#include <numeric>

namespace lathe {

std::vector<int> sorted_indices(int count, const void* items,
                                bool (*before)(const void* items, int a, int b)) {
  std::vector<int> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return before(items, a, b) || (a < b && !before(items, b, a)); });
  return order;
}

}  // namespace lathe
