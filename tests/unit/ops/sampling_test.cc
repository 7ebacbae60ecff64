// Pictures between their elements: values by hand, gradients by differences, errors.
#include "lathe/ops/sampling.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;
using graph::Shape;

Inputs line(Floats places) {
  const auto count = static_cast<int64_t>(places.size());
  return {{"x", Array::of({1, 1, 3}, Floats{1, 2, 4})}, {"p", Array::of({1, count}, places)}};
}

template <Interpolation interpolation, Outside outside, int count>
Tensor sampled(Builder& b) {
  const Tensor x = b.input("x", DType::F32, {1, 1, 3});
  return sample(x, {b.input("p", DType::F32, {1, count})}, {interpolation, outside});
}

TEST(Sample, OneAxis) {
  expect_near(run(sampled<Interpolation::Linear, Outside::Zeros, 4>, line({0.5f, 1.25f, -0.5f, 5})),
              {1.5f, 2.5f, 0.5f, 0});
  expect_near(run(sampled<Interpolation::Linear, Outside::Border, 3>, line({-7, 9, 1.5f})),
              {1, 4, 3});
  // Mirrors stand at -0.5 and 2.5: 3 is 2 again, 3.5 lies between 1 and 2, -1 is 0.
  expect_near(run(sampled<Interpolation::Linear, Outside::Reflection, 3>, line({3, 3.5f, -1})),
              {4, 3, 1});
  // Of two equally near the even one.
  expect_near(run(sampled<Interpolation::Nearest, Outside::Zeros, 4>, line({0.5f, 1.5f, 0.6f, 9})),
              {1, 4, 2, 0});
  expect_near(run(sampled<Interpolation::Cubic, Outside::Border, 2>, line({1, 0.5f})),
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
  EXPECT_EQ(message_of([](Builder& b) {
              return sample(b.input("x", DType::F32, {1, 1, 3}), {});
            }),
            "sample: x [1,1,3] must be [n, c, spatial…] with elements, and places of its type [n, "
            "places] for each spatial axis");
}

}  // namespace
}  // namespace lathe::ops
