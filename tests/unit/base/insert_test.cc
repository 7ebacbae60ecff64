#include "lathe/base/insert.h"

#include <gtest/gtest.h>

#include <string>

namespace lathe {
namespace {

TEST(Insert, MatchesStdInsertAtEveryIndex) {
  for (size_t count = 0; count < 10; ++count) {
    for (size_t at = 0; at <= count; ++at) {
      std::vector<std::string> items;
      for (size_t i = 0; i < count; ++i) items.push_back(std::to_string(i));
      std::vector<std::string> expected = items;
      expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(at), "new");
      insert_at(items, at, "new");
      EXPECT_EQ(items, expected) << at << " of " << count;
    }
  }
}

TEST(Insert, AcceptsAnItemOfTheVectorItself) {
  std::vector<int> items = {1, 2, 3};
  items.shrink_to_fit();
  insert_at(items, 1, items[2]);
  EXPECT_EQ(items, (std::vector<int>{1, 3, 2, 3}));
}

}  // namespace
}  // namespace lathe
