// Attention over shared heads, masks that leave nothing, windows and rotary embeddings.
#include "lathe/ops/nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

TEST(Attention, SharesKeysAmongHeads) {
  // Heads 0 and 1 of the queries meet head 0 of the keys.
  const auto build = [](Builder& b) {
    const Tensor q = b.input("q", DType::F32, {1, 4, 1, 2}),
                 k = b.input("k", DType::F32, {1, 2, 2, 2});
    return attention_scores(q, k, 0.5f);
  };
  expect_near(run(build, {{"q", Array::of({1, 4, 1, 2}, Floats{1, 0, 0, 1, 1, 1, 2, 0})},
                          {"k", Array::of({1, 2, 2, 2}, Floats{1, 2, 3, 4, 5, 6, 7, 8})}}),
              {0.5, 1.5, 1, 2, 5.5, 7.5, 5, 7});
  EXPECT_EQ(message_of([](Builder& b) {
              const Tensor q = b.input("q", DType::F32, {1, 3, 1, 2});
              return attention_scores(q, b.input("k", DType::F32, {1, 2, 2, 2}), 1);
            }),
            "attention: queries [1,3,1,2] do not fit keys [1,2,2,2]; both are [batch, heads, "
            "length, size]");
}

TEST(Attention, YieldsZerosWhereAllIsMasked) {
  const auto build = [](Builder& b) { return masked_softmax(b.input("x", DType::F32, {2, 2})); };
  const float none = -INFINITY;
  expect_near(run(build, {{"x", Array::of({2, 2}, Floats{none, 3, none, none})}}), {0, 1, 0, 0});
}

Tensor seen(Builder& b, int64_t left, int64_t right) {
  const Tensor first = b.full({}, scalar::Number::of(1));
  return b.cast(key_window_mask({.first = first, .left = left, .right = right}, 2, 4), DType::F32);
}

TEST(Attention, SeesAWindowOfKeys) {
  expect_near(run([](Builder& b) { return seen(b, -1, 0); }, {}), {1, 1, 0, 0, 1, 1, 1, 0});
  expect_near(run([](Builder& b) { return seen(b, 0, 1); }, {}), {0, 1, 1, 0, 0, 0, 1, 1});
}

template <bool interleaved>
Tensor rotated(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {1, 1, 1, 6});
  const Tensor c = b.input("c", DType::F32, {1, 1, 2}), s = b.input("s", DType::F32, {1, 1, 2});
  return rotary_embedding(x, c, s, interleaved);
}

TEST(Attention, TurnsPairs) {
  const Inputs inputs = {{"x", Array::of({1, 1, 1, 6}, Floats{1, 2, 3, 4, 5, 6})},
                         {"c", Array::of({1, 1, 2}, Floats{0, 1})},
                         {"s", Array::of({1, 1, 2}, Floats{1, 0})}};
  expect_near(run(rotated<false>, inputs), {-3, 2, 1, 4, 5, 6});
  expect_near(run(rotated<true>, inputs), {-2, 1, 3, 4, 5, 6});
}

TEST(Attention, HasGradients) {
  grad::check_gradients("attention", [](Builder& b) {
    const Tensor q = b.input("q", DType::F32, {1, 4, 3, 2}),
                 k = b.input("k", DType::F32, {1, 2, 3, 2});
    const Tensor v = b.input("v", DType::F32, {1, 2, 3, 2});
    return weighted_values(masked_softmax(attention_scores(q, k, 0.7f)), v);
  });
  grad::check_gradients("rotary_embedding", rotated<true>);
}

}  // namespace
}  // namespace lathe::ops
