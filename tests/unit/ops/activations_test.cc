// Values and gradients of the activations.
#include "lathe/ops/elementwise/activations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "check_gradients.h"
#include "lathe/grad/gradient.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "run.h"

namespace lathe::ops {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

const Floats kX = {-2, -0.5f, 0, 0.5f, 2, 100};

Tensor row(Builder& b) { return b.input("x", DType::F32, {6}); }
Inputs row_values() { return {{"x", Array::of({6}, kX)}}; }

TEST(Activations, Values) {
  expect_near(run([](Builder& b) { return relu(row(b)); }, row_values()), {0, 0, 0, 0.5f, 2, 100});
  expect_near(run([](Builder& b) { return leaky_relu(row(b), 0.2f); }, row_values()),
              {-0.4f, -0.1f, 0, 0.5f, 2, 100});
  expect_near(run([](Builder& b) { return elu(row(b), 2); }, row_values()),
              {2 * (std::exp(-2.0f) - 1), 2 * (std::exp(-0.5f) - 1), 0, 0.5f, 2, 100});
  expect_near(run([](Builder& b) { return ops::sigmoid(row(b)); }, row_values()),
              {0.1192029f, 0.3775407f, 0.5f, 0.6224593f, 0.8807971f, 1});
  expect_near(run([](Builder& b) { return ops::tanh(row(b)); }, row_values()),
              {-0.9640276f, -0.4621172f, 0, 0.4621172f, 0.9640276f, 1});
}

TEST(Activations, ErfAndGeluFollowTheirDefinitions) {
  constexpr int kCount = 2001;
  static const auto input = [](Builder& b) { return b.input("x", DType::F32, {kCount}); };
  Floats x, expected_erf, exact, approximate;
  for (int i = 0; i < kCount; ++i) {
    const double v = (i - 1000) / 150.0;
    x.push_back(static_cast<float>(v));
    expected_erf.push_back(static_cast<float>(std::erf(v)));
    exact.push_back(static_cast<float>(0.5 * v * (1 + std::erf(v / std::sqrt(2.0)))));
    approximate.push_back(
        static_cast<float>(0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)))));
  }
  const Inputs inputs = {{"x", Array::of({kCount}, x)}};
  const auto expect_close = [](const Floats& actual, const Floats& expected, double tolerance) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], tolerance * std::max(1.0f, std::fabs(expected[i]))) << i;
    }
  };
  expect_close(run([](Builder& b) { return graph::erf(input(b)); }, inputs), expected_erf, 3e-7);
  expect_close(run([](Builder& b) { return gelu(input(b)); }, inputs), exact, 1e-6);
  expect_close(run([](Builder& b) { return gelu(input(b), true); }, inputs), approximate, 1e-6);
}

TEST(Activations, SoftmaxSurvivesLargeValues) {
  const Inputs inputs = {{"x", Array::of({2, 2}, Floats{1000, 1000, -1000, 1000})}};
  const auto x = [](Builder& b) { return b.input("x", DType::F32, {2, 2}); };
  static const auto input = x;
  expect_near(run([](Builder& b) { return softmax(input(b)); }, inputs), {0.5f, 0.5f, 0, 1});
  expect_near(run([](Builder& b) { return softmax(input(b), 0); }, inputs), {1, 0.5f, 0, 0.5f});
  expect_near(run([](Builder& b) { return log_softmax(input(b)); }, inputs),
              {-std::log(2.0f), -std::log(2.0f), -2000, 0});
}

template <auto activation>
Tensor applied(Builder& b) {
  return activation(b.input("x", DType::F32, {2, 4}));
}

TEST(Activations, GradientsAgreeWithFiniteDifferences) {
  using grad::check_gradients;
  check_gradients("relu", applied<relu>);
  check_gradients("sigmoid", applied<sigmoid>);
  check_gradients("tanh", applied<tanh>);
  check_gradients("leaky_relu", applied<[](Tensor x) { return leaky_relu(x, 0.3f); }>);
  check_gradients("elu", applied<[](Tensor x) { return elu(x, 1.5f); }>);
  check_gradients("hard_sigmoid", applied<hard_sigmoid>);
  check_gradients("selu", applied<selu>);
  check_gradients("softplus", applied<softplus>);
  check_gradients("softsign", applied<softsign>);
  check_gradients("swish", applied<[](Tensor x) { return swish(x, 1.5f); }>);
  check_gradients("mish", applied<mish>);
  check_gradients("gelu", applied<[](Tensor x) { return gelu(x); }>);
  check_gradients("gelu_new", applied<[](Tensor x) { return gelu(x, true); }>);
  check_gradients("softmax", applied<[](Tensor x) { return softmax(x); }>);
  check_gradients("softmax over rows", applied<[](Tensor x) { return softmax(x, 0); }>);
  check_gradients("log_softmax", applied<[](Tensor x) { return log_softmax(x); }>);
}

// Gradients of sum(activation(x)) at -2, -0.5, 0, 0.5, 2, 100.
template <auto activation>
Tensor gradient(Builder& b) {
  const Tensor x = row(b);
  return grad::gradients(b, sum(activation(x), {0}), {{x}})[0];
}

TEST(Activations, GradientsAtZeroAndFarOut) {
  expect_near(run(gradient<softplus>, row_values()),
              {0.1192029f, 0.3775407f, 0.5f, 0.6224593f, 0.8807971f, 1});
  EXPECT_EQ(run(gradient<relu>, row_values()), (Floats{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(run(gradient<relu6>, row_values()), (Floats{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(run(gradient<[](Tensor x) { return clip_by_value(x, -0.5f, 2); }>, row_values()),
            (Floats{0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(run(gradient<[](Tensor x) { return elu(x, 1); }>, row_values())[5], 1);
  EXPECT_EQ(run(gradient<[](Tensor x) { return leaky_relu(x, 0.5f); }>, row_values()),
            (Floats{0.5f, 0.5f, 0.5f, 1, 1, 1}));
}

}  // namespace
}  // namespace lathe::ops
