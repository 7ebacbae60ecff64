// Scatters: every merge, gradients, shape errors.
#include "lathe/ops/movement/scattering.h"

#include <gtest/gtest.h>

#include "check_gradients.h"
#include "run.h"

namespace lathe::ops::scattering_test {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

Tensor x(Builder& b) { return b.input("x", DType::F32, {4}); }
Tensor indices(Builder& b) { return b.input("indices", DType::I32, {3}); }
Tensor updates(Builder& b) { return b.input("updates", DType::F32, {3}); }

Inputs inputs(Ints at) {
  return {{"x", Array::of({4}, Floats{1, 2, 3, 4})},
          {"indices", Array::of({3}, std::move(at))},
          {"updates", Array::of({3}, Floats{10, 20, 30})}};
}

template <Merge merge>
Tensor scattered(Builder& b) {
  const Tensor to = x(b), at = indices(b), from = updates(b);
  return scatter_along(to, at, from, 0, merge);
}

TEST(Scattering, MergesEveryUpdateOfAnElement) {
  const Inputs twice = inputs({1, -1, 1});
  expect_near(run(scattered<Merge::Replace>, inputs({3, 0, 1})), {20, 30, 3, 10});
  expect_near(run(scattered<Merge::Replace>, twice), {1, 30, 3, 20});
  expect_near(run(scattered<Merge::Add>, twice), {1, 42, 3, 24});
  expect_near(run(scattered<Merge::Mul>, twice), {1, 600, 3, 80});
  expect_near(run(scattered<Merge::Max>, twice), {1, 30, 3, 20});
  expect_near(run(scattered<Merge::Min>, twice), {1, 2, 3, 4});
}

TEST(Scattering, MayLeaveOtherAxesInPart) {
  const auto build = [](Builder& b) {
    const Tensor to = b.input("x", DType::F32, {2, 3});
    const Tensor at = b.input("indices", DType::I32, {1, 2});
    const Tensor from = b.input("updates", DType::F32, {1, 2});
    return scatter_along(to, at, from, 1, Merge::Replace);
  };
  expect_near(run(build, {{"x", Array::of({2, 3}, Floats{1, 2, 3, 4, 5, 6})},
                          {"indices", Array::of({1, 2}, Ints{2, 0})},
                          {"updates", Array::of({1, 2}, Floats{10, 20})}}),
              {20, 2, 10, 4, 5, 6});
}

TEST(Scattering, PutsPartsByTuples) {
  const auto build = [](Builder& b) {
    const Tensor to = b.input("x", DType::F32, {2, 2, 2});
    const Tensor at = b.input("indices", DType::I32, {2, 2});
    const Tensor from = b.input("updates", DType::F32, {2, 2});
    return scatter_nd(to, at, from, Merge::Add);
  };
  expect_near(run(build, {{"x", Array::of({2, 2, 2}, Floats{0, 1, 2, 3, 4, 5, 6, 7})},
                          {"indices", Array::of({2, 2}, Ints{0, 1, -1, -2})},
                          {"updates", Array::of({2, 2}, Floats{10, 20, 30, 40})}}),
              {0, 1, 12, 23, 34, 45, 6, 7});
}

TEST(Scattering, RejectsMismatchedShapes) {
  EXPECT_EQ(message_of([](Builder& b) {
              const Tensor to = x(b), at = indices(b);
              return scatter_along(to, at, to, 0, Merge::Add);
            }),
            "scatter: updates f32[4] at indices [3] along axis 0 do not fit f32[4]");
  EXPECT_EQ(message_of([](Builder& b) {
              const Tensor to = b.input("x", DType::F32, {2, 2});
              const Tensor at = b.input("indices", DType::I32, {3, 1});
              const Tensor from = b.input("updates", DType::F32, {3});
              return scatter_nd(to, at, from, Merge::Add);
            }),
            "scatter_nd: updates [3] at indices [3,1] do not fit x [2,2]");
}

// Of 3 rows each element of the second and third is updated.
template <Merge merge>
Tensor met(Builder& b) {
  const Tensor to = b.input("x", DType::F32, {3, 2}), from = b.input("updates", DType::F32, {2, 2});
  const Tensor at = b.iota({2, 2}, 0) + b.full({2, 2}, scalar::Number::of(1));
  return scatter_along(to, at, from, 0, merge);
}

TEST(Scattering, HasGradients) {
  grad::check_gradients("scatter_replace", met<Merge::Replace>);
  grad::check_gradients("scatter_add", met<Merge::Add>);
  grad::check_gradients("scatter_mul", met<Merge::Mul>);
  grad::check_gradients("scatter_max", met<Merge::Max>);
}

}  // namespace
}  // namespace lathe::ops::scattering_test
