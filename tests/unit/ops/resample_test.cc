// Weighted sums of elements at constant indices along an axis.
#include "lathe/ops/images/resample.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops::resample_test {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

Tensor x(Builder& b) { return b.input("x", DType::F32, {2, 3}); }
Inputs inputs() { return {{"x", Array::of({2, 3}, Floats{1, 2, 3, 10, 20, 30})}}; }

TEST(Resample, PicksByARuleOrByAnIndex) {
  // Every second one from the end, each twice, any.
  expect_near(run(
                  [](Builder& b) {
                    return resample(x(b), 1, {{{2, 1}}, {{0, 1}}});
                  },
                  inputs()),
              {3, 1, 30, 10});
  expect_near(run(
                  [](Builder& b) {
                    return resample(x(b), 0, {{{0, 1}}, {{0, 1}}, {{1, 1}}, {{1, 1}}});
                  },
                  inputs()),
              {1, 2, 3, 1, 2, 3, 10, 20, 30, 10, 20, 30});
  expect_near(run(
                  [](Builder& b) {
                    return resample(x(b), 1, {{{1, 1}}, {{1, 1}}, {{0, 1}}, {{2, 1}}});
                  },
                  inputs()),
              {2, 2, 1, 3, 20, 20, 10, 30});
}

TEST(Resample, MixesAFewOrMany) {
  expect_near(run(
                  [](Builder& b) {
                    return resample(x(b), 1, {{{0, 0.25}, {2, 0.75}}, {{1, 2}}});
                  },
                  inputs()),
              {2.5f, 4, 25, 40});
  const auto many = [](Builder& b) {
    return resample(x(b), 1, {{{0, 1}, {1, 1}, {2, 1}, {0, 1}, {1, 1}}, {{2, 1}}});
  };
  expect_near(run(many, inputs()), {9, 3, 90, 30});
  grad::check_gradients("many", many);
  grad::check_gradients("few", [](Builder& b) {
    return resample(x(b), 0, {{{0, 0.5}, {1, 0.5}}, {{1, 1}}, {{0, -1}, {1, 2}}});
  });
}

}  // namespace
}  // namespace lathe::ops::resample_test
