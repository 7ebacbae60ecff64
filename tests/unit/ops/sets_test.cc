// Equal rows, and boxes that overlap.
#include "lathe/ops/sets.h"

#include <gtest/gtest.h>

#include "lathe/ops/images/detection.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

template <bool sorted>
Tensor unique(Builder& b) {
  const UniqueRows found = unique_rows(b.input("x", DType::F32, {5, 2}), sorted);
  return concatenate({b.reshape(found.count, {1}), found.first, found.inverse, found.counts}, 0);
}

TEST(Sets, FindsEqualRows) {
  const Inputs inputs = {{"x", Array::of({5, 2}, Floats{3, 1, 1, 2, 3, 0, 1, 2, 3, 1})}};
  // Elements of `first` and `counts` beyond `count` are undefined.
  Floats actual = run(unique<true>, inputs);
  EXPECT_EQ(Floats(actual.begin(), actual.begin() + 4), (Floats{3, 1, 2, 0}));
  EXPECT_EQ(Floats(actual.begin() + 6, actual.begin() + 14), (Floats{2, 0, 1, 0, 2, 2, 1, 2}));
  actual = run(unique<false>, inputs);
  EXPECT_EQ(Floats(actual.begin(), actual.begin() + 4), (Floats{3, 0, 1, 2}));
  EXPECT_EQ(Floats(actual.begin() + 6, actual.begin() + 14), (Floats{0, 1, 2, 1, 0, 2, 2, 1}));
}

template <bool has_least>
Tensor selected(Builder& b) {
  const Tensor boxes = b.input("boxes", DType::F32, {1, 4, 4});
  const Tensor scores = b.input("scores", DType::F32, {1, 1, 4});
  const Tensor least = has_least ? b.scalar(0.3f) : Tensor{};
  const SelectedBoxes found = non_max_suppression(boxes, scores, 4, b.scalar(0.5f), least);
  return concatenate({b.cast(found.box, DType::F32), b.cast(found.valid, DType::F32)}, 2);
}

TEST(Detection, SelectsTheBestOfOverlappingBoxes) {
  // The second overlaps the first, with its corners in reverse order.
  const Inputs inputs = {
      {"boxes", Array::of({1, 4, 4}, Floats{0, 0, 1, 1, 1, 0.9f, 0, 0, 2, 2, 3, 3, 0, 5, 1, 6})},
      {"scores", Array::of({1, 1, 4}, Floats{0.5, 0.9f, 0.4f, 0.2f})}};
  expect_near(run(selected<false>, inputs), {1, 2, 3, 0, 1, 1, 1, 0});
  expect_near(run(selected<true>, inputs), {1, 2, 0, 0, 1, 1, 0, 0});
}

TEST(Indexing, GathersByTuples) {
  const auto build = [](Builder& b) {
    const Tensor x = b.input("x", DType::F32, {2, 2, 2});
    return gather_nd(x, b.input("indices", DType::I32, {2, 1}), 1);
  };
  expect_near(run(build, {{"x", Array::of({2, 2, 2}, Floats{0, 1, 2, 3, 4, 5, 6, 7})},
                          {"indices", Array::of({2, 1}, Ints{-1, 0})}}),
              {2, 3, 4, 5});
  EXPECT_EQ(message_of([](Builder& b) {
              return gather_nd(b.input("x", DType::F32, {2}), b.input("i", DType::I32, {1, 2}));
            }),
            "gather_nd: indices [1,2] do not fit x [2] with 0 axes of batches");
}

TEST(Indexing, ReversesTheFirstOfEach) {
  const auto build = [](Builder& b) {
    const Tensor x = b.input("x", DType::F32, {2, 3});
    return reverse_sequence(x, b.input("lengths", DType::I32, {2}), 0, 1);
  };
  expect_near(run(build, {{"x", Array::of({2, 3}, Floats{1, 2, 3, 4, 5, 6})},
                          {"lengths", Array::of({2}, Ints{2, 3})}}),
              {2, 1, 3, 6, 5, 4});
}

TEST(Indexing, OneHotMarksPositions) {
  const auto build = [](Builder& b) {
    const Tensor index = b.input("i", DType::I32, {3});
    return one_hot_along(index, 3, 0, b.scalar(5), b.scalar(1));
  };
  expect_near(run(build, {{"i", Array::of({3}, Ints{0, -1, 7})}}), {5, 1, 1, 1, 1, 1, 1, 5, 1});
}

template <PadMode mode>
Tensor padded(Builder& b) {
  return pad_by(mode, b.input("x", DType::F32, {3}), {{4, 2}});
}

TEST(Movement, PadsWithWhatIsThere) {
  const Inputs inputs = {{"x", Array::of({3}, Floats{1, 2, 3})}};
  expect_near(run(padded<PadMode::Reflect>, inputs), {1, 2, 3, 2, 1, 2, 3, 2, 1});
  expect_near(run(padded<PadMode::Symmetric>, inputs), {3, 3, 2, 1, 1, 2, 3, 3, 2});
  expect_near(run(padded<PadMode::Edge>, inputs), {1, 1, 1, 1, 1, 2, 3, 3, 3});
  expect_near(run(padded<PadMode::Wrap>, inputs), {3, 1, 2, 3, 1, 2, 3, 1, 2});
}

TEST(Movement, SlicesEverySecondFromTheEnd) {
  const auto build = [](Builder& b) {
    return strided_slice(b.input("x", DType::F32, {5}), {4}, {-2}, {3});
  };
  expect_near(run(build, {{"x", Array::of({5}, Floats{1, 2, 3, 4, 5})}}), {5, 3, 1});
  EXPECT_EQ(message_of([](Builder& b) {
              return strided_slice(b.input("x", DType::F32, {5}), {4}, {-2}, {4});
            }),
            "strided_slice: [4] elements from [4] by steps [-2] are not inside shape [5]");
}

}  // namespace
}  // namespace lathe::ops
