// Inserting into vectors, a fifth as long as what the library's makes of it for each type.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace lathe {

// 0 ≤ at ≤ items.size().
template <class T>
void insert_at(std::vector<T>& items, size_t at, std::type_identity_t<T> item) {
  for (; at < items.size(); ++at) std::swap(items[at], item);
  items.push_back(std::move(item));
}

}  // namespace lathe
