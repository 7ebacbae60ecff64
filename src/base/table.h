// Vectors that are indexed by ids: of nodes, buffers, expressions, loop variables.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace lathe {

// Ids are integers, enumerators, or structures whose first member is an integer `id`. An integer is
// accepted as well, for code that visits all positions. An id without an element, such as -1, fails
// an assertion.
template <class Id, class T>
class Table : public std::vector<T> {
 public:
  using Items = std::vector<T>;
  using Items::Items;
  Table() = default;
  Table(Items items) : Items(std::move(items)) {}

  template <class Index>
  requires(std::same_as<Index, Id> || std::integral<Index>) decltype(auto) operator[](Index index) {
    return Items::operator[](position_of(index));
  }
  template <class Index>
  requires(std::same_as<Index, Id> || std::integral<Index>) decltype(auto) operator[](
      Index index) const {
    return Items::operator[](position_of(index));
  }

  // Returns the id of the new element.
  Id push_back(T&& item) {
    Items::push_back(std::move(item));
    return last();
  }
  Id push_back(const T& item) { return push_back(T(item)); }
  // Of a table that is not empty.
  Id last() const {
    const size_t position = this->size() - 1;
    if constexpr (std::is_class_v<Id>) {
      return Id{static_cast<decltype(Id::id)>(position)};
    } else {
      return static_cast<Id>(position);
    }
  }

 private:
  template <class Index>
  size_t position_of(Index index) const {
    if constexpr (std::is_class_v<Index>) {
      return position_of(index.id);
    } else if constexpr (std::is_enum_v<Index>) {
      return position_of(std::to_underlying(index));
    } else {
      assert(std::in_range<size_t>(index) && std::cmp_less(index, this->size()));
      return static_cast<size_t>(index);
    }
  }
};

}  // namespace lathe
