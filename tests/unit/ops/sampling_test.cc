// Images sampled at fractional positions: values by hand, gradients by differences, errors.
#include "lathe/ops/images/sampling.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;
using graph::Shape;

Inputs line(Floats positions) {
  const auto count = static_cast<int64_t>(positions.size());
  return {{"x", Array::of({1, 1, 3}, Floats{1, 2, 4})}, {"p", Array::of({1, count}, positions)}};
}

template <Interpolation interpolation, OutOfBounds outside, int count>
Tensor sampled(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {1, 1, 3});
  return sample(x, {b.input("p", DType::F32, {1, count})}, {interpolation, outside});
}

TEST(Sample, OneAxis) {
  expect_near(
      run(sampled<Interpolation::Linear, OutOfBounds::Zeros, 4>, line({0.5f, 1.25f, -0.5f, 5})),
      {1.5f, 2.5f, 0.5f, 0});
  expect_near(run(sampled<Interpolation::Linear, OutOfBounds::Border, 3>, line({-7, 9, 1.5f})),
              {1, 4, 3});
  // Reflection at -0.5 and 2.5: 3 maps to 2, 3.5 is between 1 and 2, -1 maps to 0.
  expect_near(run(sampled<Interpolation::Linear, OutOfBounds::Reflection, 3>, line({3, 3.5f, -1})),
              {4, 3, 1});
  // Of two equally near the even one.
  expect_near(
      run(sampled<Interpolation::Nearest, OutOfBounds::Zeros, 4>, line({0.5f, 1.5f, 0.6f, 9})),
      {1, 4, 2, 0});
  expect_near(run(sampled<Interpolation::Cubic, OutOfBounds::Border, 2>, line({1, 0.5f})),
              {2, 1.3125f});
}

TEST(Sample, Gradients) {
  grad::check_gradients("plane", [](Builder& b) {
    const Tensor x = b.input("x", DType::F32, {2, 2, 5, 4});
    const Tensor rows = b.input("rows", DType::F32, {2, 3});
    const Tensor columns = b.input("columns", DType::F32, {2, 3});
    return sample(x, {0.4f * rows + 1.77f, 0.3f * columns + 1.31f});
  });
}

TEST(SampleErrors, NameTheShape) {
  EXPECT_EQ(
      message_of([](Builder& b) {
        return sample(b.input("x", DType::F32, {1, 1, 3}), {});
      }),
      "sample: x [1,1,3] must be [n, c, spatial…] with elements, and positions of its type [n, "
      "points] for each spatial axis");
}

}  // namespace
}  // namespace lathe::ops
