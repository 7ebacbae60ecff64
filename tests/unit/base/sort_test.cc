#include "lathe/base/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lathe {
namespace {

struct Item {
  int key, place;

  bool operator==(const Item&) const = default;
};

bool smaller_key(const Item& a, const Item& b) { return a.key < b.key; }

TEST(Sort, OrdersAndKeepsTheOrderOfEqualItems) {
  std::mt19937 random(5);
  for (int count = 0; count < 200; ++count) {
    std::vector<Item> items;
    for (int i = 0; i < count; ++i) items.push_back({static_cast<int>(random() % 20), i});
    std::vector<Item> want = items;
    std::sort(want.begin(), want.end(), [](const Item& a, const Item& b) {
      return a.key != b.key ? a.key < b.key : a.place < b.place;
    });
    sort_by(items, smaller_key);
    EXPECT_EQ(items, want) << count;
  }
}

}  // namespace
}  // namespace lathe
