// What the layers of noise do while a model trains: its statistics, and when it repeats.
#include "lathe/nn/layers/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../model_runner.h"
#include "lathe/graph/evaluate.h"
#include "lathe/nn/layers/dense.h"

namespace lathe::nn::noise_test {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

constexpr int64_t kRows = 50, kSteps = 20, kChannels = 20;

struct Run {
  bool trains = true;
  uint64_t seed = 7;
  float step = 0;
  std::string name = "noise";
  int call = 1;
};

// What the layer makes of x, [kRows, kSteps, kChannels] of `value`.
Numbers disturbed(const LayerPtr& layer, float value, const Run& run = {}) {
  Builder builder("test");
  BuildState build{.trains = run.trains, .seed = run.seed};
  Context context(build, run.name, true);
  const Tensor x = builder.full({kRows, kSteps, kChannels}, scalar::Number::of(value));
  Tensor y;
  for (int call = 0; call < run.call; ++call) {
    y = layer->build_call(std::array{x}, {}, context)[0];
  }
  builder.output("y", y);
  const graph::Graph graph = must(std::move(builder).finish());
  std::map<std::string, Array> states = {
      {"optimizer/step", Array::of({}, std::span(&run.step, 1))}};
  const Array out = must(graph::evaluate(graph, {}, states)).at("y");
  Numbers numbers;
  for (int64_t i = 0; i < graph::element_count(out.shape); ++i) {
    numbers.push_back(static_cast<float>(out[i].as_double()));
  }
  return numbers;
}

double mean_of(const Numbers& numbers) {
  double sum = 0;
  for (const float x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}

double deviation_of(const Numbers& numbers) {
  const double mean = mean_of(numbers);
  double sum = 0;
  for (const float x : numbers) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(numbers.size()));
}

Sizes sizes(std::vector<int64_t> values) {
  Sizes result;
  result.values = std::move(values);
  return result;
}

std::vector<LayerPtr> all() {
  return {dropout({.rate = 0.4}), spatial_dropout1d({.rate = 0.4}), gaussian_noise({.stddev = 1}),
          gaussian_dropout({.rate = 0.4}), alpha_dropout({.rate = 0.4})};
}

TEST(Noise, DropoutPreservesTheMean) {
  const Numbers y = disturbed(dropout({.rate = 0.4}), 3);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(y, 0.0f)) / 20000.0, 0.4, 0.015);
  for (const float each : y) EXPECT_FLOAT_EQ(each, each == 0 ? 0 : 5);
  EXPECT_NEAR(mean_of(y), 3, 0.06);
}

TEST(Noise, SharedDecisionsCoverTheirAxis) {
  const Numbers spatial = disturbed(spatial_dropout1d({.rate = 0.5}), 1);
  const Numbers shaped = disturbed(dropout({.rate = 0.5, .noise_shape = sizes({-1, 1, -1})}), 1);
  for (const Numbers& y : {spatial, shaped}) {
    int64_t dropped = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t channel = 0; channel < kChannels; ++channel) {
        const float first = y[row * kSteps * kChannels + channel];
        dropped += first == 0;
        for (int64_t step = 1; step < kSteps; ++step) {
          EXPECT_EQ(y[(row * kSteps + step) * kChannels + channel], first);
        }
      }
    }
    EXPECT_NEAR(static_cast<double>(dropped) / (kRows * kChannels), 0.5, 0.06);
  }
}

TEST(Noise, GaussianLayersHaveTheirDeviation) {
  const Numbers added = disturbed(gaussian_noise({.stddev = 0.5}), 2);
  EXPECT_NEAR(mean_of(added), 2, 0.02);
  EXPECT_NEAR(deviation_of(added), 0.5, 0.02);
  const Numbers scaled = disturbed(gaussian_dropout({.rate = 0.2}), 2);
  EXPECT_NEAR(mean_of(scaled), 2, 0.03);
  EXPECT_NEAR(deviation_of(scaled), 2 * 0.5, 0.03);
}

TEST(Noise, AlphaDropoutMovesToTheLimitOfSelu) {
  const Numbers y = disturbed(alpha_dropout({.rate = 0.3}), 0);
  const double limit = 1.6732632423543772 * 1.0507009873554805;
  const double scale = 1 / std::sqrt(0.7 * (1 + 0.3 * limit * limit));
  const auto [low, high] = std::ranges::minmax(y);
  EXPECT_NEAR(high, scale * limit * 0.3, 1e-5);
  EXPECT_NEAR(low, scale * (limit * 0.3 - limit), 1e-5);
  EXPECT_NEAR(mean_of(y), 0, 0.02);
}

TEST(Noise, IsOffWhileTheModelDoesNotTrain) {
  for (const LayerPtr& layer : all()) {
    const Numbers y = disturbed(layer, 3, {.trains = false});
    EXPECT_TRUE(std::ranges::all_of(y, [](float each) { return each == 3; }))
        << layer->class_name();
  }
}

TEST(Noise, RepeatsForEqualKeysOnly) {
  for (const LayerPtr& layer : all()) {
    SCOPED_TRACE(layer->class_name());
    const Numbers y = disturbed(layer, 3);
    EXPECT_EQ(y, disturbed(layer, 3));
    EXPECT_NE(y, disturbed(layer, 3, {.seed = 8}));
    EXPECT_NE(y, disturbed(layer, 3, {.step = 1}));
    EXPECT_NE(y, disturbed(layer, 3, {.name = "other"}));
    EXPECT_NE(y, disturbed(layer, 3, {.call = 2}));
  }
  const LayerPtr seeded = dropout({.rate = 0.4, .seed = {3}});
  EXPECT_EQ(disturbed(seeded, 3), disturbed(seeded, 3, {.seed = 8}));
  EXPECT_NE(disturbed(seeded, 3), disturbed(dropout({.rate = 0.4}), 3));
}

TEST(Noise, TrainsThroughDropout) {
  Sequential model("dropped", 5);
  model.add(dense({.units = 16, .activation = "tanh", .input_shape = {2}}));
  model.add(dropout({.rate = 0.25}));
  model.add(dense({.units = 1}));
  const TrainingOptions options{.loss = "mse",
                                .optimizer = {"sgd", {{"learningRate", 0.05}}},
                                .batch = {.train = 4, .evaluate = 4, .predict = 4}};
  ModelRunner runner(model, options);
  const Numbers x = {0, 0, 0, 1, 1, 0, 1, 1}, y = {0, 1, 1, 0.5f};
  const float before = runner.step("evaluate", x, y, 4).loss;
  EXPECT_EQ(runner.step("evaluate", x, y, 4).loss, before);
  for (int step = 0; step < 60; ++step) runner.step("train", x, y, 4);
  EXPECT_LT(runner.step("evaluate", x, y, 4).loss, before);
}

TEST(NoiseErrors, NameTheArgument) {
  const auto refusal = [](const LayerPtr& layer) {
    const auto plan = layer->plan_call(std::vector<Shape>{{4, 5}});
    return plan ? "accepted" : plan.error().message;
  };
  EXPECT_EQ(refusal(dropout({.rate = 1})), "rate must be a number from 0 to below 1, got 1");
  EXPECT_EQ(refusal(gaussian_dropout({.rate = 1.5})),
            "rate must be a number from 0 to below 1, got 1.5");
  EXPECT_EQ(refusal(gaussian_dropout({.rate = 1})), "accepted");
  EXPECT_EQ(refusal(alpha_dropout({.rate = 1})), "accepted");
  EXPECT_EQ(refusal(dropout({.rate = 0.5, .noise_shape = {2, 3}})),
            "noiseShape [2,3] must be the batch and the axes of [4,5], each -1, its size or 1");
  EXPECT_EQ(refusal(gaussian_noise({.stddev = -1})),
            "stddev must be a finite number, at least 0, got -1");
  const auto flat = spatial_dropout1d({.rate = 0.5})->plan_call(std::vector<Shape>{{4}});
  EXPECT_EQ(flat.error().message, "expects examples [steps,channels], got [4]");
}

}  // namespace
}  // namespace lathe::nn::noise_test
