// Values and gradients of losses.
#include "lathe/ops/nn/losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "check_gradients.h"
#include "lathe/grad/gradient.h"
#include "lathe/ops/reduction/reductions.h"
#include "run.h"

namespace lathe::ops::losses_test {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

Tensor x(Builder& b) { return b.input("x", DType::F32, {2, 3}); }
Tensor y(Builder& b) { return b.input("y", DType::F32, {2, 3}); }
Tensor classes(Builder& b) { return b.input("c", DType::I32, {2}); }

Inputs values() {
  return {{"x", Array::of({2, 3}, Floats{1, 2, 3, -1, 0.25f, 100})},
          {"y", Array::of({2, 3}, Floats{0, 1, 0, 1, 0, 0})},
          {"c", Array::of({2}, Ints{1, 0})}};
}

TEST(Losses, ReturnOneValuePerRow) {
  const float normal = std::log(std::exp(1.0f) + std::exp(2.0f) + std::exp(3.0f));
  expect_near(run([](Builder& b) { return mean_squared_error(x(b), y(b)); }, values()),
              {(1 + 1 + 9) / 3.0f, (4 + 0.0625f + 10000) / 3.0f});
  expect_near(run([](Builder& b) { return softmax_cross_entropy(x(b), y(b)); }, values()),
              {normal - 2, 101});
  expect_near(
      run([](Builder& b) { return sparse_softmax_cross_entropy(x(b), classes(b)); }, values()),
      {normal - 2, 101});
  const auto cost = [](double logit, double label) {
    return std::log1p(std::exp(logit)) - logit * label;
  };
  expect_near(run([](Builder& b) { return sigmoid_cross_entropy(x(b), y(b)); }, values()),
              {static_cast<float>((cost(1, 0) + cost(2, 1) + cost(3, 0)) / 3),
               static_cast<float>((cost(-1, 1) + cost(0.25, 0) + 100) / 3)});
}

TEST(Losses, CategoricalCrossEntropyScalesRowsAndAcceptsZeros) {
  const Inputs inputs = {{"x", Array::of({2, 3}, Floats{1, 2, 5, 0, 0, 0})},
                         {"y", Array::of({2, 3}, Floats{0, 1, 0, 1, 0, 0})}};
  expect_near(run([](Builder& b) { return categorical_cross_entropy(x(b), y(b)); }, inputs),
              {std::log(4.0f), std::log(1e7f)});
}

TEST(Losses, GradientsAgreeWithFiniteDifferences) {
  using grad::check_gradients;
  check_gradients("mse", [](Builder& b) { return mean_squared_error(x(b), y(b)); });
  check_gradients("sigmoid", [](Builder& b) { return sigmoid_cross_entropy(x(b), y(b)); });
  check_gradients("softmax", [](Builder& b) { return softmax_cross_entropy(x(b), y(b)); });
  check_gradients("sparse",
                  [](Builder& b) { return sparse_softmax_cross_entropy(x(b), classes(b)); });
}

// Gradients of the sum of the losses by x.
template <auto loss>
Tensor gradient(Builder& b) {
  const Tensor at = x(b), wrt[] = {at};
  return grad::gradients(b, sum(loss(at, y(b)), {0}), wrt)[0];
}

// Where every regression begins: all weights, and so all logits, are 0.
TEST(Losses, GradientsAtZeroLogitsMatchTheirDefinitions) {
  const Inputs zeros = {{"x", Array::of({2, 3}, Floats{0, 0, 0, -0.0f, -0.0f, 0.5f})},
                        {"y", Array::of({2, 3}, Floats{0, 1, 0.25f, 0, 1, 0.5f})}};
  const auto third = [](double slope) { return static_cast<float>(slope / 3); };
  expect_near(run(gradient<sigmoid_cross_entropy>, zeros),
              {third(0.5), third(-0.5), third(0.25), third(0.5), third(-0.5),
               third(1 / (1 + std::exp(-0.5)) - 0.5)});
  expect_near(run(gradient<log_cosh>, zeros),
              {0, third(std::tanh(-1)), third(std::tanh(-0.25)), 0, third(std::tanh(-1)), 0});
}

// The gradients close to logits of 0 are the same.
TEST(Losses, SigmoidCrossEntropyIsSmoothAtZero) {
  const Inputs close_to_zero = {
      {"x", Array::of({2, 3}, Floats{1e-6f, 0, -1e-6f, 1e-6f, 0, -1e-6f})},
      {"y", Array::of({2, 3}, Floats{0, 0, 0, 1, 1, 1})}};
  const float half = 0.5f / 3;
  expect_near(run(gradient<sigmoid_cross_entropy>, close_to_zero),
              {half, half, half, -half, -half, -half});
}

TEST(Reductions, ArgmaxIsTheFirstMaximum) {
  const Inputs inputs = {{"x", Array::of({2, 3}, Floats{5, 7, 7, -1, -1, -2})}};
  EXPECT_EQ(run([](Builder& b) { return argmax(x(b)); }, inputs), (Floats{1, 0}));
  EXPECT_EQ(run([](Builder& b) { return argmax(x(b), 0); }, inputs), (Floats{0, 0, 0}));
}

// As in TensorFlow.js, whose loops retain an element until a greater one.
TEST(Reductions, NaNIsArgmaxOnlyAtTheFirstPosition) {
  const float nan = std::nanf("");
  const Inputs inputs = {{"x", Array::of({2, 3}, Floats{5, nan, nan, -1, -INFINITY, -INFINITY})}};
  EXPECT_EQ(run([](Builder& b) { return argmax(x(b)); }, inputs), (Floats{0, 0}));
  EXPECT_EQ(run([](Builder& b) { return argmin(x(b)); }, inputs), (Floats{0, 1}));
  EXPECT_EQ(run([](Builder& b) { return argmax(x(b), 0); }, inputs), (Floats{0, 0, 0}));
  EXPECT_EQ(run([](Builder& b) { return argmin(x(b), 0); }, inputs), (Floats{1, 0, 0}));
  const Inputs first = {{"x", Array::of({2, 3}, Floats{nan, INFINITY, 1, nan, -INFINITY, nan})}};
  EXPECT_EQ(run([](Builder& b) { return argmax(x(b)); }, first), (Floats{0, 0}));
  EXPECT_EQ(run([](Builder& b) { return argmin(x(b)); }, first), (Floats{0, 0}));
  EXPECT_EQ(run([](Builder& b) { return argmin(x(b), 0); }, first), (Floats{0, 1, 0}));
}

TEST(ReductionErrors, ArgmaxRejectsEmptyAxes) {
  EXPECT_EQ(message_of([](Builder& b) {
              return argmax(b.input("x", DType::F32, {2, 0}), 1);
            }),
            "position of the max: axis 1 of shape [2,0] has no elements");
}

TEST(OneHot, ClassOutsideIsARowOfZeros) {
  EXPECT_EQ(
      run([](Builder& b) { return one_hot(classes(b), 2); }, {{"c", Array::of({2}, Ints{1, 7})}}),
      (Floats{0, 1, 0, 0}));
}

TEST(LossErrors, NameTheLossAndTheShapes) {
  EXPECT_EQ(message_of([](Builder& b) {
              return mean_squared_error(x(b), b.input("y", DType::F32, {2, 1}));
            }),
            "mean_squared_error: outputs [2,3] and labels [2,1] must have the same shape "
            "[rows,classes]");
  EXPECT_EQ(message_of([](Builder& b) { return sparse_softmax_cross_entropy(x(b), y(b)); }),
            "one_hot: classes must be integers of one axis, not f32[2,3]");
}

}  // namespace
}  // namespace lathe::ops::losses_test
