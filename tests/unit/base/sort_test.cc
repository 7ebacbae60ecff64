#include "lathe/base/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lathe {
namespace {

struct Item {
  int key, index;

  bool operator==(const Item&) const = default;
};

bool smaller_key(const Item& a, const Item& b) { return a.key < b.key; }

TEST(Sort, SortsAndIsStable) {
  std::mt19937 random(5);
  for (int count = 0; count < 200; ++count) {
    std::vector<Item> items;
    for (int i = 0; i < count; ++i) items.push_back({static_cast<int>(random() % 20), i});
    std::vector<Item> expected = items;
    std::sort(expected.begin(), expected.end(), [](const Item& a, const Item& b) {
      return a.key != b.key ? a.key < b.key : a.index < b.index;
    });
    sort_by(items, smaller_key);
    EXPECT_EQ(items, expected) << count;
  }
}

}  // namespace
}  // namespace lathe
