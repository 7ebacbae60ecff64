// Sorting with one instantiation of std::sort for the whole core: what a type adds is a comparison
// and a copy. Knows nothing of what it sorts.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace lathe {

// 0 ≤ i < count in the order of `before`; equal ones keep theirs.
std::vector<int> sorted_indices(int count, const void* items,
                                bool (*before)(const void* items, int a, int b));

// Stable. `before(a, b)`: whether a comes first, a function without state.
template <auto before, class T>
void sort_by(std::vector<T>& items) {
  const auto compare = [](const void* all, int a, int b) {
    const auto* first = static_cast<const T*>(all);
    return before(first[a], first[b]);
  };
  const std::vector<int> order =
      sorted_indices(static_cast<int>(items.size()), items.data(), compare);
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const int i : order) sorted.push_back(std::move(items[static_cast<size_t>(i)]));
  items = std::move(sorted);
}

template <class T>
void sort_ascending(std::vector<T>& items) {
  sort_by<[](const T& a, const T& b) { return a < b; }>(items);
}

}  // namespace lathe
