// Penalties, constraints and the final values of metrics.
#include "lathe/nn/regularizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "check_gradients.h"
#include "lathe/graph/evaluate.h"
#include "lathe/nn/training/loss.h"

namespace lathe::nn {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;
using Floats = std::vector<float>;

const Floats kW = {3, -1, 4, 0.5f, -4, 2};  // [3, 2]; the norms of the columns are 41^½ and 5.25^½

template <class Build>
Floats run(Build&& build) {
  Builder builder("test");
  builder.output("out", build(builder.input("w", DType::F32, {3, 2})));
  const auto graph = std::move(builder).finish();
  EXPECT_TRUE(graph) << graph.error().message;
  std::map<std::string, Array> states;
  const auto outputs = graph::evaluate(*graph, {{"w", Array::of({3, 2}, kW)}}, states);
  const Array& out = outputs->at("out");
  Floats values;
  for (int64_t i = 0; i < graph::element_count(out.shape); ++i) {
    values.push_back(static_cast<float>(out[i].as_double()));
  }
  return values;
}

Floats projected(const Choice& choice) {
  return run([&](Tensor w) { return constrained(*find_constraint(choice), w); });
}

void expect_near(const Floats& actual, const Floats& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
}

TEST(Regularizer, Penalties) {
  const auto penalty_of = [](const Choice& choice) {
    return run([&](Tensor w) { return penalty(*find_regularizer(choice), w); })[0];
  };
  EXPECT_NEAR(penalty_of("l1"), 0.145, 1e-6);
  EXPECT_NEAR(penalty_of({"l2", {{"l2", 0.5}}}), 0.5 * 46.25, 1e-5);
  EXPECT_NEAR(penalty_of({"l1l2", {{"l1", 1}}}), 14.5 + 0.4625, 1e-5);
}

TEST(Regularizer, GradientsAgreeWithFiniteDifferences) {
  grad::check_gradients("l1l2", [](Builder& b) {
    return penalty(*find_regularizer({"l1l2", {{"l1", 0.3}, {"l2", 0.2}}}),
                   b.input("w", DType::F32, {3, 2}));
  });
}

TEST(Constraint, Projections) {
  const float a = std::sqrt(41.0f), b = std::sqrt(5.25f);
  const auto scaled = [&](float first, float second) {
    Floats w = kW;
    for (size_t i = 0; i < w.size(); ++i) w[i] *= i % 2 == 0 ? first : second;
    return w;
  };
  expect_near(projected("nonNeg"), {3, 0, 4, 0.5f, 0, 2});
  expect_near(projected("unitNorm"), scaled(1 / a, 1 / b));
  expect_near(projected({"maxNorm", {{"maxValue", 3}}}), scaled(3 / a, 1));
  expect_near(projected({"minMaxNorm", {{"minValue", 4}, {"maxValue", 5}}}), scaled(5 / a, 4 / b));
  expect_near(projected({"minMaxNorm", {{"minValue", 4}, {"maxValue", 5}, {"rate", 0.5}}}),
              scaled((2.5f + a / 2) / a, (2 + b / 2) / b));
  const float rows[] = {std::sqrt(10.0f), std::sqrt(16.25f), std::sqrt(20.0f)};
  expect_near(projected({"unitNorm", {{"axis", -1}}}),
              {3 / rows[0], -1 / rows[0], 4 / rows[1], 0.5f / rows[1], -4 / rows[2], 2 / rows[2]});
}

TEST(Constraint, AxisMustExist) {
  EXPECT_TRUE(check_constraint(*find_constraint("maxNorm"), {3}));
  EXPECT_TRUE(check_constraint(*find_constraint("nonNeg"), {}));
  const Status error = check_constraint(*find_constraint({"unitNorm", {{"axis", 1}}}), {3});
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message, "constraint unitNorm: axis 1 is not in shape [3]");
}

double final_of(Final final, const std::vector<double>& sums) {
  return final_value(final, sums).front();
}

TEST(Metric, FinalValues) {
  EXPECT_EQ(final_of(Final::Mean, {3, 4}), 0.75);
  EXPECT_EQ(final_of(Final::Mean, {0, 0}), 0);
  EXPECT_EQ(final_of(Final::Ratio, {3, 1}), 0.75);
  EXPECT_EQ(final_of(Final::Ratio, {0, 0}), 0);
  // Points (1, 1), (½, ¾), (0, 0): ½ · 1.75/2 + ½ · 0.75/2.
  EXPECT_DOUBLE_EQ(final_of(Final::Curve, {4, 3, 0, 2, 1, 0}), 0.625);
  EXPECT_DOUBLE_EQ(final_of(Final::Determination, {1, 6, 14, 3}), 0.5);
  EXPECT_EQ(final_value(Final::Matrix, std::vector<double>{1, 2, 3, 4}),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST(Metric, AccuracyOfBinaryCrossentropyIsBinary) {
  const auto loss = fit_loss("binaryCrossentropy", "layer", ActivationKind::Sigmoid);
  ASSERT_TRUE(loss);
  EXPECT_TRUE(loss->from_logits);
  const auto metric = fit_metric("accuracy", &*loss, "layer", ActivationKind::Sigmoid);
  ASSERT_TRUE(metric);
  EXPECT_EQ(metric->name, "acc");
  EXPECT_EQ(std::get<Chosen<MetricKind>>(metric->what).kind, MetricKind::BinaryAccuracy);
  const auto mae = fit_metric("mae", &*loss, "layer", ActivationKind::Sigmoid);
  ASSERT_TRUE(mae);
  EXPECT_EQ(mae->name, "mae");
  EXPECT_EQ(mae->final, Final::Mean);
  EXPECT_FALSE(fit_metric("nonsense", nullptr, "layer", ActivationKind::Linear));
}

TEST(Metric, CrossentropyGoesByTheLossAndByTheOutput) {
  const auto matching = [](const char* loss, bool is_row_of_one) {
    return std::string_view(
        fitting_crossentropy(*fit_loss(loss, "layer", ActivationKind::Sigmoid), is_row_of_one));
  };
  EXPECT_EQ(matching("binaryCrossentropy", false), "binaryCrossentropy");
  EXPECT_EQ(matching("mse", true), "binaryCrossentropy");
  EXPECT_EQ(matching("mse", false), "categoricalCrossentropy");
}

}  // namespace
}  // namespace lathe::nn
