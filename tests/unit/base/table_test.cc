#include "lathe/base/table.h"

#include <gtest/gtest.h>

#include <string>

namespace lathe::table_test {
namespace {

enum class Color { Red, Green };
struct Item {
  int32_t id = -1;
  bool operator==(const Item&) const = default;
};

TEST(Table, ReturnsTheIdOfANewElement) {
  Table<Item, std::string> names;
  EXPECT_EQ(names.push_back("a"), Item{0});
  const Item b = names.push_back("b");
  EXPECT_EQ(b, names.last());
  EXPECT_EQ(names[b], "b");
  names[b] = "c";
  EXPECT_EQ(names[size_t{1}], "c");
}

TEST(Table, IsIndexedByIntegersAndEnumerators) {
  Table<int, bool> flags(3);
  flags[2] = true;
  EXPECT_FALSE(flags[0]);
  EXPECT_TRUE(flags[2]);
  const Table<Color, int> numbers = {7, 8};
  EXPECT_EQ(numbers[Color::Green], 8);
}

TEST(Table, IsAVector) {
  const Table<Item, int> numbers(std::vector{1, 2, 3});
  int sum = 0;
  for (const int number : numbers) sum += number;
  EXPECT_EQ(sum, 6);
}

#ifndef NDEBUG
TEST(Table, ChecksIds) {
  Table<Item, int> numbers(2);
  EXPECT_DEATH(numbers[Item{}], "");
  EXPECT_DEATH(numbers[Item{2}], "");
}
#endif

template <class Index>
concept IndexesItems = requires(Table<Item, int> table, Index index) {
  table[index];
};
static_assert(IndexesItems<Item> && IndexesItems<size_t> && !IndexesItems<Color>);

}  // namespace
}  // namespace lathe::table_test
