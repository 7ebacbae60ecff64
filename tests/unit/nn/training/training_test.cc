#include "lathe/nn/training/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "../model_runner.h"
#include "lathe/base/text.h"
#include "lathe/graph/verify.h"
#include "lathe/nn/layers/activation.h"
#include "lathe/nn/layers/dense.h"

namespace lathe::nn {
namespace {

// One weight w = 2 and w * x against y = 1 at x = 3: loss (3w - 1)^2, gradient 6 (3w - 1).
ModelRunner one_weight(Choice optimizer) {
  Sequential model;
  model.add(dense({.units = 1,
                   .use_bias = false,
                   .kernel = Choice{"constant", {{"value", 2}}},
                   .input_shape = {1},
                   .name = "w"}));
  return ModelRunner(model, {.loss = "meanSquaredError",
                             .optimizer = std::move(optimizer),
                             .batch = {.train = 1, .evaluate = 1, .predict = 1}});
}

double gradient_at(double w) { return 6 * (3 * w - 1); }

TEST(Training, SgdFollowsTheGradient) {
  ModelRunner runner = one_weight({"sgd", {{"learningRate", 0.01}}});
  const auto [loss, correct] = runner.step("train", {3}, {1}, 1);
  EXPECT_FLOAT_EQ(loss, 25);
  EXPECT_FLOAT_EQ(runner.states["w/kernel"][0], 1.7f);
  EXPECT_FLOAT_EQ(runner.states["optimizer/step"][0], 1);
}

TEST(Training, LearningRateChangesWithoutCompiling) {
  ModelRunner runner = one_weight("sgd");
  EXPECT_FLOAT_EQ(runner.states["optimizer/learning_rate"][0], 0.01f);
  runner.states["optimizer/learning_rate"][0] = 0.001f;
  runner.step("train", {3}, {1}, 1);
  EXPECT_FLOAT_EQ(runner.states["w/kernel"][0], 1.97f);
}

TEST(Training, MomentumMatchesItsDefinition) {
  for (const bool nesterov : {false, true}) {
    ModelRunner runner = one_weight(
        {"momentum", {{"learningRate", 0.001}, {"momentum", 0.8}, {"useNesterov", nesterov}}});
    double w = 2, accumulation = 0;
    for (int step = 0; step < 5; ++step) {
      const double g = gradient_at(w);
      accumulation = 0.8 * accumulation + g;
      w -= 0.001 * (nesterov ? g + 0.8 * accumulation : accumulation);
      runner.step("train", {3}, {1}, 1);
      EXPECT_NEAR(runner.states["w/kernel"][0], w, 1e-5) << step;
      EXPECT_NEAR(runner.states["optimizer/momentum/w/kernel"][0], accumulation, 1e-4) << step;
    }
  }
}

TEST(Training, AdamMatchesItsDefinition) {
  ModelRunner runner =
      one_weight({"adam", {{"learningRate", 0.1}, {"beta1", 0.8}, {"beta2", 0.99}}});
  double w = 2, m = 0, v = 0;
  for (int step = 1; step <= 5; ++step) {
    const double g = gradient_at(w);
    m = 0.8 * m + 0.2 * g;
    v = 0.99 * v + 0.01 * g * g;
    w -= 0.1 * (m / (1 - std::pow(0.8, step))) / (std::sqrt(v / (1 - std::pow(0.99, step))) + 1e-7);
    runner.step("train", {3}, {1}, 1);
    EXPECT_NEAR(runner.states["w/kernel"][0], w, 2e-5) << step;
    EXPECT_NEAR(runner.states["optimizer/m/w/kernel"][0], m, 1e-4) << step;
    EXPECT_NEAR(runner.states["optimizer/v/w/kernel"][0], v, 1e-3) << step;
    EXPECT_FLOAT_EQ(runner.states["optimizer/step"][0], static_cast<float>(step));
  }
  EXPECT_NEAR(runner.states["optimizer/beta1_power"][0], std::pow(0.8, 6), 1e-6);
}

// Reference updates of a weight of 2 by the published definition of each optimizer; `g` is its
// gradient.
struct Reference {
  Choice choice;
  std::function<double(double w, double g, int step, double (&slots)[3])> next;
  std::string slot = {};  // of slots[0]
  double start = 0;
};

std::vector<Reference> references() {
  constexpr double kRate = 0.05, kEpsilon = 1e-7;
  const auto adam_step = [](double w, double g, int step, double(&s)[3]) {
    s[0] = 0.9 * s[0] + 0.1 * g;
    s[1] = 0.999 * s[1] + 0.001 * g * g;
    const double mean = s[0] / (1 - std::pow(0.9, step));
    return w - kRate * mean / (std::sqrt(s[1] / (1 - std::pow(0.999, step))) + kEpsilon);
  };
  const std::pair<std::string, Setting> rate = {"learningRate", kRate};
  return {
      {{"adagrad", {rate}},
       [](double w, double g, int, double(&s)[3]) {
         s[0] += g * g;
         return w - kRate * g / std::sqrt(s[0] + kEpsilon);
       },
       "accumulator",
       0.1},
      {{"adadelta", {rate, {"rho", 0.9}}},
       [](double w, double g, int, double(&s)[3]) {
         const double update = g * std::sqrt(s[1] + kEpsilon) / std::sqrt(s[0] + kEpsilon);
         s[0] = 0.9 * s[0] + 0.1 * g * g;
         s[1] = 0.9 * s[1] + 0.1 * update * update;
         return w - kRate * update;
       },
       "accum_grad"},
      {{"adamw", {rate, {"weightDecay", 0.1}}},
       [=](double w, double g, int step, double(&s)[3]) {
         return adam_step(w - kRate * 0.1 * w, g, step, s);
       },
       "m"},
      {{"adam", {rate, {"clipValue", 0.5}}},
       [=](double w, double g, int step, double(&s)[3]) {
         return adam_step(w, std::clamp(g, -0.5, 0.5), step, s);
       },
       "m"},
      {{"adamax", {rate, {"decay", 0.3}}},
       [](double w, double g, int step, double(&s)[3]) {
         s[0] = 0.9 * s[0] + 0.1 * g;
         s[1] = std::max(0.999 * s[1], std::fabs(g));
         const double now = kRate / (1 + 0.3 * (step - 1)) / (1 - std::pow(0.9, step));
         return w - now * s[0] / (s[1] + kEpsilon);
       },
       "m"},
      {{"rmsprop", {rate}},
       [](double w, double g, int, double(&s)[3]) {
         s[0] = 0.9 * s[0] + 0.1 * g * g;
         return w - kRate * g / std::sqrt(s[0] + kEpsilon);
       },
       "rms"},
      {{"rmsprop", {rate, {"momentum", 0.5}, {"centered", true}}},
       [](double w, double g, int, double(&s)[3]) {
         s[0] = 0.9 * s[0] + 0.1 * g * g;
         s[1] = 0.9 * s[1] + 0.1 * g;
         s[2] = 0.5 * s[2] + kRate * g / std::sqrt(s[0] - s[1] * s[1] + kEpsilon);
         return w - s[2];
       },
       "rms"},
      {{"sgd", {rate, {"clipNorm", 0.5}, {"weightDecay", 0.2}}},
       [](double w, double g, int, double(&)[3]) {
         return w - kRate * 0.2 * w - kRate * std::clamp(g, -0.5, 0.5);
       }},
      {{"sgd", {rate, {"globalClipNorm", 3}}},
       [](double w, double g, int, double(&)[3]) { return w - kRate * std::clamp(g, -3.0, 3.0); }},
  };
}

TEST(Training, OptimizersMatchTheirDefinitions) {
  for (const Reference& reference : references()) {
    SCOPED_TRACE(reference.choice.name);
    ModelRunner runner = one_weight(reference.choice);
    double w = 2, slots[3] = {reference.start, 0, 0};
    for (int step = 1; step <= 8; ++step) {
      w = reference.next(w, gradient_at(w), step, slots);
      runner.step("train", {3}, {1}, 1);
      EXPECT_NEAR(runner.states["w/kernel"][0], w, 2e-5) << step;
      if (reference.slot.empty()) continue;
      EXPECT_NEAR(runner.states[concat("optimizer/", reference.slot, "/w/kernel")][0], slots[0],
                  1e-5 * std::fabs(slots[0]))
          << step;
    }
  }
}

TEST(Training, ClippingDoesNotChangeSmallGradients) {
  for (const char* option : {"clipValue", "clipNorm", "globalClipNorm"}) {
    ModelRunner free = one_weight("sgd"), bound = one_weight({"sgd", {{option, 1000}}});
    free.step("train", {3}, {1}, 1);
    bound.step("train", {3}, {1}, 1);
    EXPECT_EQ(free.states["w/kernel"], bound.states["w/kernel"]) << option;
  }
}

constexpr int kRows = 4, kInputs = 3, kOutputs = 2;
const Numbers kX = {0.5f, -1, 0.25f, 1, 0.5f, -0.75f, -0.5f, 1, 0.5f, -1, -0.25f, 1};
const Numbers kY = {1, 0, 0, 1, 1, 0, 0, 1};
const Numbers kSoftY = {0.75f, 0.25f, 0.25f, 0.75f, 0.75f, 0.25f, 0.25f, 0.75f};
const Numbers kClasses = {0, 1, 0, 1};

// Activations that a loss accepts at the end and that are smooth.
std::vector<std::string> ends_of(std::string_view loss) {
  if (loss == "sigmoidCrossEntropy") return {"linear", "sigmoid"};
  if (loss == "softmaxCrossEntropy") return {"linear", "softmax"};
  if (loss == "poisson" || loss == "kullbackLeiblerDivergence" || loss.ends_with("entropy") ||
      loss == "meanSquaredLogarithmicError") {
    return {"sigmoid", "softmax"};
  }
  return {"linear", "sigmoid", "tanh", "softmax"};
}

// Starts far from the edges of losses in pieces.
Sequential tiny(const Choice& hidden, const Choice& last) {
  Sequential model("tiny", 3);
  const WeightOptions kernel = "glorotUniform";
  model.add(dense(
      {.units = 5, .activation = hidden, .kernel = kernel, .input_shape = {kInputs}, .name = "a"}));
  model.add(dense({.units = kOutputs, .activation = last, .kernel = kernel, .name = "b"}));
  return model;
}

TrainingOptions options_of(std::string_view loss, Choice optimizer, Labels labels = Labels::Dense,
                           int64_t batch = kRows) {
  return {std::string(loss), std::move(optimizer), labels, {batch, batch, batch}};
}

void expect_learns(const Choice& optimizer, std::string_view loss, std::string_view hidden,
                   const std::string& last) {
  ModelRunner runner(tiny(std::string(hidden), last), options_of(loss, optimizer));
  for (const graph::Graph& entry : runner.program().entries) {
    const Status valid = graph::verify(entry);
    EXPECT_TRUE(valid) << (valid ? "" : valid.error().message);
  }
  const float before = runner.step("train", kX, kSoftY, kRows).loss;
  for (int step = 0; step < 20; ++step) runner.step("train", kX, kSoftY, kRows);
  EXPECT_LT(runner.step("evaluate", kX, kSoftY, kRows).loss, before)
      << optimizer.name << ' ' << loss << ' ' << hidden << ' ' << last;
}

TEST(Training, EveryLossLearnsThroughEveryActivation) {
  int combinations = 0;
  for (const Row& loss : losses()) {
    for (const Row& hidden : activations()) {
      for (const std::string& last : ends_of(loss.name)) {
        expect_learns({"sgd", {{"learningRate", 0.001}}}, loss.name, hidden.name, last);
        ++combinations;
      }
    }
  }
  EXPECT_EQ(combinations, (9 * 4 + 8 * 2) * 17);
}

TEST(Training, EveryOptimizerLearns) {
  for (const Row& optimizer : optimizers()) {
    for (const char* loss : {"meanSquaredError", "softmaxCrossEntropy"}) {
      expect_learns({std::string(optimizer.name), {{"learningRate", 0.02}}}, loss, "tanh",
                    "softmax");
    }
  }
}

// With SGD at rate 1 a weight moves by its gradient.
TEST(Training, GradientsMatchFiniteDifferences) {
  for (const Row& loss : losses()) {
    for (const std::string& last : ends_of(loss.name)) {
      for (const char* hidden : {"tanh", "mish"}) {
        for (const Labels labels : {Labels::Dense, Labels::Sparse}) {
          // A percentage of a label of zero is beyond the digits of f32.
          if (loss.short_name == "mape" && labels == Labels::Sparse) continue;
          const Numbers& y = labels == Labels::Dense ? kSoftY : kClasses;
          ModelRunner runner(tiny(hidden, last),
                             options_of(loss.name, {"sgd", {{"learningRate", 1}}}, labels));
          const auto start = runner.states;
          runner.step("train", kX, y, 3);
          const auto moved = runner.states;
          for (const char* name : {"a/kernel", "a/bias", "b/kernel", "b/bias"}) {
            for (size_t i = 0; i < start.at(name).size(); ++i) {
              constexpr float kStep = 1.0f / 128;
              const auto loss_at = [&](float offset) {
                runner.states = start;
                runner.states[name][i] += offset;
                return runner.step("evaluate", kX, y, 3).loss;
              };
              const float slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
              EXPECT_NEAR(start.at(name)[i] - moved.at(name)[i], slope,
                          2e-3 * std::max(1.0f, std::fabs(slope)))
                  << loss.name << ' ' << last << ' ' << hidden << ' ' << name << i;
            }
          }
        }
      }
    }
  }
}

TEST(Training, RowsBeyondTheDataCountForNothing) {
  ModelRunner padded(tiny("relu", "softmax"), options_of("softmaxCrossEntropy", "adam"));
  ModelRunner exact(tiny("relu", "softmax"),
                    options_of("softmaxCrossEntropy", "adam", Labels::Dense, 3));
  const Numbers x3(kX.begin(), kX.begin() + 3 * kInputs), y3(kY.begin(), kY.begin() + 3 * kOutputs);
  for (int step = 0; step < 3; ++step) {
    const auto one = padded.step("train", kX, kY, 3), other = exact.step("train", x3, y3, 3);
    EXPECT_NEAR(one.loss, other.loss, 1e-6);
    EXPECT_EQ(one.correct, other.correct);
    EXPECT_LE(one.correct, 3);
  }
  for (const auto& [name, values] : padded.states) {
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], exact.states[name][i], 1e-5) << name;
    }
  }
}

TEST(Training, SparseLabelsEqualOneHotLabels) {
  for (const Row& loss : losses()) {
    const std::string last = ends_of(loss.name).back();
    ModelRunner dense_labels(tiny("tanh", last), options_of(loss.name, "sgd"));
    ModelRunner sparse_labels(tiny("tanh", last), options_of(loss.name, "sgd", Labels::Sparse));
    const auto one = dense_labels.step("train", kX, kY, kRows);
    const auto other = sparse_labels.step("train", kX, kClasses, kRows);
    EXPECT_NEAR(one.loss, other.loss, 1e-6) << loss.name;
    EXPECT_EQ(one.correct, other.correct) << loss.name;
    EXPECT_EQ(dense_labels.states["a/kernel"], sparse_labels.states["a/kernel"]) << loss.name;
  }
}

// Weights of 2 and -3 and a bias of 0.5 on two inputs.
ModelRunner regularized(DenseOptions options, const Choice& optimizer) {
  options.units = 1;
  options.input_shape = {2};
  options.name = "w";
  Sequential model;
  model.add(dense(options));
  ModelRunner runner(
      model,
      {.loss = "mse", .optimizer = optimizer, .batch = {.train = 2, .evaluate = 2, .predict = 1}});
  runner.states["w/kernel"] = {2, -3};
  runner.states["w/bias"] = {0.5f};
  return runner;
}

const Choice kSgd = {"sgd", {{"learningRate", 0.1}}};

TEST(Training, PenaltiesAreInTheLossOfTrainingAndItsGradient) {
  DenseOptions options;
  options.kernel.regularizer = {"l1l2", {{"l1", 0.5}, {"l2", 0.25}}};
  options.bias.regularizer = {"l2", {{"l2", 2}}};
  ModelRunner runner = regularized(options, kSgd);
  const double y = 2 - 6 + 0.5, penalty = 0.5 * 5 + 0.25 * 13 + 2 * 0.25;
  EXPECT_NEAR(runner.step("evaluate", {1, 2, 9, 9}, {0, 9}, 1).loss, y * y, 1e-5);
  EXPECT_NEAR(runner.step("train", {1, 2, 9, 9}, {0, 9}, 1).loss, y * y + penalty, 1e-5);
  EXPECT_NEAR(runner.states["w/kernel"][0], 2 - 0.1 * (2 * y * 1 + 0.5 + 0.5 * 2), 1e-5);
  EXPECT_NEAR(runner.states["w/kernel"][1], -3 - 0.1 * (2 * y * 2 - 0.5 - 0.5 * 3), 1e-5);
  EXPECT_NEAR(runner.states["w/bias"][0], 0.5 - 0.1 * (2 * y + 4 * 0.5), 1e-5);
}

TEST(Training, ActivityPenaltiesCountPresentRows) {
  DenseOptions options;
  options.activity_regularizer = {"l1", {{"l1", 0.5}}};
  ModelRunner runner = regularized(options, kSgd);
  const double y = 2 - 6 + 0.5;
  EXPECT_NEAR(runner.step("train", {1, 2, 9, 9}, {0, 9}, 1).loss, y * y + 0.5 * -y, 1e-5);
  EXPECT_NEAR(runner.states["w/bias"][0], 0.5 - 0.1 * (2 * y - 0.5), 1e-5);
}

TEST(Training, ConstraintsFollowTheUpdate) {
  DenseOptions options;
  options.kernel.constraint = {"maxNorm", {{"maxValue", 1}}};
  options.bias.constraint = "nonNeg";
  ModelRunner runner = regularized(options, {"adam", {{"learningRate", 1}}});
  runner.states["w/bias"] = {-0.5f};
  for (int step = 0; step < 3; ++step) {
    runner.step("train", {1, 2, 9, 9}, {0, 9}, 1);
    const Numbers& w = runner.states["w/kernel"];
    EXPECT_LE(w[0] * w[0] + w[1] * w[1], 1.0001f);
    EXPECT_GE(runner.states["w/bias"][0], 0);
  }
}

TEST(Training, MetricsAreSumsOverPresentRows) {
  TrainingOptions options = options_of("categoricalCrossentropy", "sgd");
  options.metrics = {{"accuracy", "mae", "precision", "confusionMatrix"}};
  const Sequential model = tiny("tanh", "softmax");
  ModelRunner runner(model, options);
  const Numbers p = runner.predict("predict", kX);
  auto outputs = runner.run("evaluate", {{"x", kX}, {"y", kY}, {"rows", {3}}});
  float hits = 0, error = 0;
  Numbers matrix(4);
  for (int row = 0; row < 3; ++row) {
    const int predicted = p[2 * row + 1] > p[2 * row], actual = static_cast<int>(kClasses[row]);
    hits += static_cast<float>(predicted == actual);
    matrix[2 * actual + predicted] += 1;
    error += std::fabs(p[2 * row] - kY[2 * row]);
  }
  EXPECT_EQ(outputs["metric/acc"], (Numbers{hits, 3}));
  EXPECT_EQ(outputs["metric/precision"], (Numbers{hits, 3 - hits}));
  EXPECT_EQ(outputs["metric/confusionMatrix"], matrix);
  EXPECT_NEAR(outputs["metric/mae"][0], error, 1e-5);
  EXPECT_EQ(outputs["metric/mae"][1], 3);
  const auto metrics = must(metric_outputs(model, options));
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[0].output, "metric/acc");
  EXPECT_EQ(metrics[2].final, Final::Ratio);
  options.metrics = {{"accuracy", "acc"}};
  EXPECT_EQ(build_program(model, options).error().message, "two metrics are called \"acc\"");
}

TEST(Training, RowWeightsScaleLosses) {
  TrainingOptions options = options_of("mse", kSgd);
  ModelRunner plain(tiny("tanh", "linear"), options);
  options.row_weights = true;
  ModelRunner weighted(tiny("tanh", "linear"), options);
  const auto loss_of = [&](const Numbers& weights) {
    return weighted.run("evaluate", {{"x", kX}, {"y", kY}, {"rows", {4}}, {"weights", weights}})
        .at("loss")[0];
  };
  const float unweighted = plain.step("evaluate", kX, kY, 4).loss;
  EXPECT_NEAR(loss_of({1, 1, 1, 1}), unweighted, 1e-6);
  EXPECT_NEAR(loss_of({2, 2, 2, 2}), 2 * unweighted, 1e-6);
  EXPECT_NEAR(loss_of({1, 0, 0, 0}) + loss_of({0, 1, 1, 1}), unweighted, 1e-6);
  weighted.run("train", {{"x", kX}, {"y", kY}, {"rows", {4}}, {"weights", {3, 3, 3, 3}}});
  plain.states["optimizer/learning_rate"] = {0.3f};
  plain.step("train", kX, kY, 4);
  for (size_t i = 0; i < plain.states["a/kernel"].size(); ++i) {
    EXPECT_NEAR(plain.states["a/kernel"][i], weighted.states["a/kernel"][i], 1e-6);
  }
}

TEST(Training, NumbersThatAreNotFiniteAreFound) {
  TrainingOptions options = options_of("mse", kSgd);
  const Sequential model = tiny("relu", "linear");
  EXPECT_EQ(watched_layers(model), (std::vector<std::string>{"a", "b"}));
  options.check_numerics = true;
  ModelRunner runner(model, options);
  const std::map<std::string, Numbers> inputs = {{"x", kX}, {"y", kY}, {"rows", {4}}};
  const auto found = [&] { return runner.run("evaluate", inputs).at("not_finite").at(0); };
  EXPECT_EQ(found(), -1);
  runner.states["b/bias"][1] = INFINITY;
  EXPECT_EQ(found(), 1);
  runner.states["a/kernel"][2] = INFINITY;
  EXPECT_EQ(found(), 0);
  options.check_numerics = false;
  ModelRunner silent(model, options);
  EXPECT_EQ(silent.run("evaluate", inputs).count("not_finite"), 0u);
}

TEST(Training, PredictionIsTheLastActivation) {
  ModelRunner runner(tiny("tanh", "softmax"), options_of("softmaxCrossEntropy", "sgd"));
  const Numbers all = runner.predict("predict", kX);
  ASSERT_EQ(all.size(), 8u);
  float hits = 0, loss = 0;
  for (int row = 0; row < kRows; ++row) {
    const float p0 = all[2 * row], p1 = all[2 * row + 1];
    EXPECT_NEAR(p0 + p1, 1, 1e-6);
    hits += (p1 > p0) == (kClasses[row] == 1);
    loss -= std::log(kClasses[row] == 1 ? p1 : p0) / kRows;
    const Numbers one = runner.predict(
        "predict_1", Numbers(kX.begin() + row * kInputs, kX.begin() + (row + 1) * kInputs));
    EXPECT_NEAR(one[0], p0, 1e-6);
  }
  const auto step = runner.step("evaluate", kX, kY, kRows);
  EXPECT_EQ(step.correct, hits);
  EXPECT_NEAR(step.loss, loss, 1e-5);
}

TEST(Training, OneOutputIsRightOnTheSameSideOfOneHalf) {
  Sequential model;
  model.add(dense({.units = 1, .activation = "linear", .kernel = "ones", .input_shape = {1}}));
  ModelRunner runner(model, options_of("meanSquaredError", {}));
  EXPECT_EQ(runner.step("evaluate", {0, 1, 0.6f, 0.4f}, {0, 1, 0, 1}, 4).correct, 2);
}

TEST(Training, LayersPreserveLeadingAxes) {
  Sequential model;
  model.add(dense({.units = 2, .kernel = "ones", .input_shape = {2, 3}}));
  model.add(activation({.activation = "relu"}));
  ModelRunner runner(model, {.batch = {.predict = 1}});
  EXPECT_EQ(runner.predict("predict", {1, 2, 3, -4, -5, -6}), (Numbers{6, 6, 0, 0}));
}

}  // namespace
}  // namespace lathe::nn
