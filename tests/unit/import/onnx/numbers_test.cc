// Elements, folds and conversions of types that the published cases leave out.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "operate.h"

namespace lathe::onnx::numbers_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value longs(const Numbers& values) {
  return typed(Type::Int64, {static_cast<int64_t>(values.size())}, values);
}

TEST(Numbers, PowersOfIntegers) {
  expect_near(numbers_of(Node("Pow"), {longs({2, -3, -1, -1, 1, 2, 0, 0, 5}),
                                       longs({40, 3, 100, 101, -2, -1, 0, 7, 0})}),
              {1099511627776, -27, 1, -1, 1, 0, 1, 0, 1});
  expect_near(numbers_of(Node("Pow"), {longs({3, 7, 2}), floats({3}, {13, 2, 0.5})}),
              {1594323, 49, 1});
}

TEST(Numbers, RemaindersHaveTheSignOfEither) {
  Node c("Mod");
  c.with("fmod", int64_t{1});
  const Numbers x{7, -7, 7, -7}, y{3, 3, -3, -3};
  for (const Type type : {Type::Int32, Type::Float32, Type::Float64}) {
    expect_near(numbers_of(c, {typed(type, {4}, x), typed(type, {4}, y)}), {1, -1, 1, -1});
    expect_near(numbers_of(Node("Mod"), {typed(type, {4}, x), typed(type, {4}, y)}),
                {1, 2, -2, -1});
  }
}

TEST(Numbers, ShiftsBeyondTheBitsLeaveNothing) {
  const auto bytes = [](const Numbers& values) { return typed(Type::UInt8, {3}, values); };
  Node left("BitShift"), right("BitShift");
  left.with("direction", std::string("LEFT"));
  right.with("direction", std::string("RIGHT"));
  expect_near(numbers_of(left, {bytes({1, 255, 3}), bytes({7, 1, 8})}), {128, 254, 0});
  expect_near(numbers_of(right, {bytes({128, 255, 3}), bytes({7, 1, 9})}), {1, 127, 0});
}

TEST(Numbers, QuotientsAndMeansOfIntegersTruncate) {
  expect_near(numbers_of(Node("Div"), {longs({7, -7, 7}), longs({2, 2, -2})}), {3, -3, -3});
  expect_near(numbers_of(Node("ReduceMean"), {longs({1, 2, 5})}), {2});
}

TEST(Numbers, FoldsOfNothingAndOfNoAxes) {
  expect_near(numbers_of(Node("ReduceProd"), {floats({0}, {})}), {1});
  expect_near(numbers_of(Node("ReduceLogSumExp"), {floats({2}, {-kInfinity, -kInfinity})}),
              {-kInfinity});
  Node stays("ReduceLogSum");
  stays.with("noop_with_empty_axes", int64_t{1});
  expect_near(numbers_of(stays, {floats({2}, {1, std::exp(2.0)})}), {0, 2});
}

TEST(Numbers, LastOfEqualIndices) {
  Node last("ArgMax");
  last.with("select_last_index", int64_t{1});
  expect_near(numbers_of(last, {floats({4}, {1, 3, 3, 2})}), {2});
  expect_near(numbers_of(Node("ArgMax"), {floats({4}, {1, 3, 3, 2})}), {1});
}

Numbers cast(Type from, const Numbers& values, Type to) {
  Node node("Cast", 25);
  node.with("to", static_cast<int64_t>(to));
  return numbers_of(node, {typed(from, {static_cast<int64_t>(values.size())}, values)});
}

// The numbers of a format, by its bits, and those between two of them.
TEST(Conversions, EveryNumberOfEightBitsIsItself) {
  for (const Type type :
       {Type::Float8E4M3FN, Type::Float8E4M3FNUZ, Type::Float8E5M2, Type::Float8E5M2FNUZ}) {
    Numbers bits;
    for (int each = 0; each < 256; ++each) bits.push_back(each);
    const Numbers values = cast(type, bits, Type::Float32);
    const Numbers back = cast(Type::Float32, values, type);
    for (size_t k = 0; k < 256; ++k) {
      const bool is_number = std::isfinite(values[k]);
      EXPECT_TRUE(!is_number || back[k] == bits[k]) << text(type) << ' ' << k;
    }
    // Halfway between two, the one with an even last bit; a little beyond, the next.
    for (size_t k = 0; k + 1 < 0x70; ++k) {
      const double half = (values[k] + values[k + 1]) / 2;
      const Numbers near = cast(Type::Float32, {half, half * (1 + 1e-6)}, type);
      EXPECT_EQ(near[0], static_cast<double>(k % 2 == 0 ? k : k + 1)) << text(type) << ' ' << half;
      EXPECT_EQ(near[1], static_cast<double>(k + 1)) << text(type) << ' ' << half;
    }
  }
}

TEST(Conversions, ShortIntegersRoundAndWrap) {
  expect_near(cast(Type::Float32, {-8, 7, 2.5, 3.5, 8, -9}, Type::Int4), {-8, 7, 2, 4, -8, 7});
  expect_near(cast(Type::Float32, {15, 16, 0.4}, Type::UInt4), {15, 0, 0});
  expect_near(cast(Type::Int32, {1, 2, -2, -3}, Type::Int2), {1, -2, -2, 1});
}

TEST(Conversions, TextAndBack) {
  Node to_text("Cast"), to_float("Cast"), to_long("Cast");
  to_text.with("to", static_cast<int64_t>(Type::String));
  to_float.with("to", static_cast<int64_t>(Type::Float32));
  to_long.with("to", static_cast<int64_t>(Type::Int64));
  const auto printed = operate(to_text, {floats({4}, {0.1f, -2, kInfinity, std::nan("")})});
  ASSERT_TRUE(printed);
  EXPECT_EQ((*printed)[0].constant->strings, (std::vector<std::string>{"0.1", "-2", "INF", "NaN"}));
  const Value texts = Value(strings_content({4}, {"3.5", "-1e3", "+INF", "-inf"}));
  expect_near(numbers_of(to_float, {texts}), {3.5, -1000, kInfinity, -kInfinity});
  expect_near(numbers_of(to_long, {Value(strings_content({2}, {"9007199254740993", "-12.7"}))}),
              {9007199254740992, -12});
  EXPECT_EQ(message_of(to_float, {Value(strings_content({1}, {"Hello"}))}),
            "Cast: 'Hello' is no number");
}

}  // namespace
}  // namespace lathe::onnx::numbers_test
