// Values, gradients and errors of the pools.
#include "lathe/ops/windows/pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "check_gradients.h"
#include "lathe/grad/gradient.h"
#include "run.h"

namespace lathe::ops::pool_test {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

const Shape kImageShape = {1, 3, 3, 1};
Inputs image() {
  return {{"x", Array::of(kImageShape, Floats{-1, -2, -3, -4, -5, -6, -7, -8, 9})}};
}
Tensor x(Builder& b) { return b.input("x", DType::F32, kImageShape); }
const WindowOptions kSame = {.strides = {2, 2}, .padding = Padding::Same};

// Values of tf.maxPool and tf.avgPool of TensorFlow.js 4.22.
TEST(Pool, PaddingIsIgnored) {
  expect_near(run([](Builder& b) { return max_pool(x(b), {2, 2}); }, image()), {-1});
  expect_near(run(
                  [](Builder& b) {
                    return max_pool(x(b), {2, 2}, kSame);
                  },
                  image()),
              {-1, -3, -7, 9});
  expect_near(run([](Builder& b) { return average_pool(x(b), {2, 2}); }, image()), {-3});
  expect_near(run(
                  [](Builder& b) {
                    return average_pool(x(b), {2, 2}, kSame);
                  },
                  image()),
              {-3, -4.5f, -7.5f, 9});
  expect_near(run([](Builder& b) { return global_max_pool(x(b)); }, image()), {9});
  expect_near(run([](Builder& b) { return global_average_pool(x(b)); }, image()), {-3});
}

// Every window contains the entire image; padding is never materialized.
TEST(Pool, WindowsCanBeFarLargerThanTheImage) {
  const auto pooled = [](Builder& b, auto pool) {
    const Tensor y =
        pool(x(b), {2'000'000'000, 1'999'999'999}, {.strides = {1, 2}, .padding = Padding::Same});
    for (const graph::Node& node : b.graph().nodes) {
      EXPECT_LT(graph::element_count(node.shape), 200) << graph::text(node.kind);
    }
    return y;
  };
  static const auto built = pooled;
  expect_near(run([](Builder& b) { return built(b, max_pool); }, image()), Floats(6, 9));
  expect_near(run([](Builder& b) { return built(b, average_pool); }, image()), Floats(6, -3));
  expect_near(run(
                  [](Builder& b) {
                    return max_pool(x(b), {1, 5}, {.strides = {1, 1}, .padding = Padding::Same});
                  },
                  image()),
              {-1, -1, -1, -4, -4, -4, 9, 9, 9});
  expect_near(
      run(
          [](Builder& b) {
            return average_pool(x(b), {1, 4}, {.strides = {1, 1}, .padding = Padding::Same});
          },
          image()),
      {-2, -2, -2.5f, -5, -5, -5.5f, -2, -2, 0.5f});
}

TEST(Pool, NaNsNeverWin) {
  const float nan = std::nanf("");
  const Inputs row = {{"x", Array::of({1, 1, 6, 1}, Floats{nan, -2, nan, nan, nan, 3})}};
  const auto windows = [](Builder& b, int64_t size) {
    return max_pool(b.input("x", DType::F32, {1, 1, 6, 1}), {1, size}, {.strides = {1}});
  };
  static const auto pooled = windows;
  EXPECT_EQ(run([](Builder& b) { return pooled(b, 2); }, row),
            (Floats{-2, -2, -INFINITY, -INFINITY, 3}));
  EXPECT_EQ(run([](Builder& b) { return pooled(b, 6); }, row), Floats{3});
  expect_near(run(
                  [](Builder& b) {
                    const Tensor x = b.input("x", DType::F32, {1, 1, 6, 1});
                    const Tensor wrt[] = {x};
                    const Tensor y = max_pool(x, {1, 2}, {.strides = {1}});
                    return grad::gradients(b, sum(y, {0, 1, 2, 3}), wrt)[0];
                  },
                  row),
              {0, 2, 0, 0, 0, 1});
}

TEST(Pool, TheFirstOfEqualsHasTheGradient) {
  const Inputs ties = {{"x", Array::of({1, 1, 4, 1}, Floats{0, 0, 1, 1})}};
  expect_near(run(
                  [](Builder& b) {
                    const Tensor row = b.input("x", DType::F32, {1, 1, 4, 1});
                    const Tensor pooled = max_pool(row, {1, 3}, {.strides = {1, 1}});
                    const Tensor wrt[] = {row};
                    return grad::gradients(b, sum(pooled, {0, 1, 2, 3}), wrt)[0];
                  },
                  ties),
              {0, 0, 2, 0});
}

TEST(Pool, Gradients) {
  grad::check_gradients("max", [](Builder& b) {
    return max_pool(b.input("x", DType::F32, {1, 4, 6, 1}), {2, 3});
  });
  grad::check_gradients("overlapping max", [](Builder& b) {
    return max_pool(b.input("x", DType::F32, {1, 5, 3, 2}), {3, 2}, kSame);
  });
  grad::check_gradients("average", [](Builder& b) {
    return average_pool(b.input("x", DType::F32, {1, 4, 3, 2}), {3, 3},
                        {.strides = {1, 2}, .padding = Padding::Same});
  });
}

TEST(PoolErrors, NameShapesAndTheFix) {
  EXPECT_EQ(message_of([](Builder& b) {
              return max_pool(b.input("x", DType::F32, {4, 4}), {2, 2});
            }),
            "max_pool: x [4,4] must have 3 (1D), 4 (2D) or 5 (3D) axes: [n, spatial…, channels]");
  EXPECT_EQ(
      message_of([](Builder& b) {
        return average_pool(x(b), {2, 2, 2});
      }),
      "average_pool: window [2,2,2] must be 2 integers of at least 1, one for each spatial axis");
}

}  // namespace
}  // namespace lathe::ops::pool_test
