// Additions of standalone programs: totals and their resets, batches in memory, seeds.
#include <gtest/gtest.h>

#include <set>

#include "../model_runner.h"
#include "lathe/base/text.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/layers/noise.h"

namespace lathe::nn {
namespace {

Sequential classifier(bool drops = false) {
  Sequential model("small", 3);
  if (drops) model.add(dropout({.rate = 0.5, .input_shape = {2}}));
  model.add(dense({.units = 3, .activation = "softmax", .input_shape = {2}}));
  return model;
}

TrainingOptions options_for(bool standalone, int64_t batches = 1) {
  return {.loss = "softmaxCrossEntropy",
          .optimizer = "adam",
          .labels = Labels::Sparse,
          .batch = {.train = 2, .evaluate = 3, .predict = 1},
          .metrics = {{"confusionMatrix"}},
          .batches_in_memory = {batches, batches, batches},
          .standalone = standalone};
}

// With zeros for the states that no variable fills.
ModelRunner runner_of(const Model& model, const TrainingOptions& options) {
  ModelRunner runner(model, options);
  for (const graph::Graph& entry : runner.program().entries) {
    for (const graph::Node& node : entry.nodes) {
      if (node.kind != graph::Kind::State) continue;
      runner.states.try_emplace(node.name, static_cast<size_t>(graph::element_count(node.shape)));
    }
  }
  return runner;
}

TEST(Standalone, TotalsAddUpUntilTheirReset) {
  ModelRunner runner = runner_of(classifier(), options_for(true));
  EXPECT_EQ(runner.program().entries.size(), 6u);
  EXPECT_EQ(runner.program().entries[3].name, "reset_evaluate");
  const auto first = runner.step("evaluate", {1, 2, 3, 4, 0, 0}, {0, 1, 0}, 2);
  const auto second = runner.step("evaluate", {5, 6, 7, 8, 9, 1}, {2, 1, 0}, 3);
  const auto total = [&](const char* name) { return runner.states[concat("totals/", name)]; };
  EXPECT_EQ(total("evaluate/rows"), Numbers{5});
  EXPECT_NEAR(total("evaluate/loss")[0], 2 * first.loss + 3 * second.loss, 1e-5);
  EXPECT_FLOAT_EQ(total("evaluate/correct")[0], first.correct + second.correct);
  float rows = 0;
  for (const float each : total("evaluate/metric/confusionMatrix")) rows += each;
  EXPECT_EQ(rows, 5);
  EXPECT_EQ(total("train/rows"), Numbers{0});
  runner.step("train", {1, 2, 3, 4}, {0, 1}, 2);
  runner.run("reset_evaluate", {});
  EXPECT_EQ(total("evaluate/rows"), Numbers{0});
  EXPECT_EQ(total("evaluate/metric/confusionMatrix"), Numbers(9));
  EXPECT_EQ(total("train/rows"), Numbers{2});
}

TEST(Standalone, TrainsAsAnyOtherProgram) {
  ModelRunner standalone = runner_of(classifier(true), options_for(true));
  ModelRunner plain = runner_of(classifier(true), options_for(false));
  for (int step = 0; step < 3; ++step) {
    const auto x = Numbers{1, 2, 3, static_cast<float>(step)};
    EXPECT_EQ(standalone.step("train", x, {0, 1}, 2).loss, plain.step("train", x, {0, 1}, 2).loss);
  }
  for (const auto& [name, values] : plain.states)
    EXPECT_EQ(standalone.states[name], values) << name;
}

TEST(Standalone, AnOptimizerNeedsTrainableWeights) {
  Sequential model("frozen", 3);
  model.add(dense({.units = 3, .activation = "softmax", .input_shape = {2}, .trainable = false}));
  const auto program = build_program(model, options_for(true));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "the model has no trainable weights, so there is nothing for an optimizer to do: leave "
            "it out, or unfreeze a layer");
  // Others count their steps, and have every state that is listed.
  std::set<std::string> listed, found;
  for (const Variable& variable : must(variables(model, options_for(false)))) {
    listed.insert(variable.name);
  }
  for (const graph::Graph& entry : must(build_program(model, options_for(false))).entries) {
    for (const graph::Node& node : entry.nodes) {
      if (node.kind == graph::Kind::State) found.insert(node.name);
    }
  }
  EXPECT_EQ(found, listed);
}

TEST(Standalone, TheSeedOfDropoutIsAState) {
  const auto weights_with = [](float seed) {
    ModelRunner runner = runner_of(classifier(true), options_for(true));
    runner.states["random/seed"] = {seed};
    for (int step = 0; step < 4; ++step) runner.step("train", {1, 2, 3, 4}, {0, 1}, 2);
    return runner.states["dense_1/kernel"];
  };
  EXPECT_EQ(weights_with(5), weights_with(5));
  EXPECT_NE(weights_with(5), weights_with(0));
}

TEST(Standalone, BatchesAreRowsOfExamplesInMemory) {
  const Numbers x = {1, 2, 3, 4, 5, 6, 7, 8}, y = {0, 1, 2, 1};
  ModelRunner many = runner_of(classifier(), options_for(false, 2));
  ModelRunner one = runner_of(classifier(), options_for(false));
  const std::pair<int, int> orders[] = {{0, 1}, {3, 2}, {1, 1}};
  for (const auto& [a, b] : orders) {
    const auto row = [&](int i) { return std::pair(x[2 * i], x[2 * i + 1]); };
    const Numbers batch = {row(a).first, row(a).second, row(b).first, row(b).second};
    const auto expected = one.step("train", batch, {y[a], y[b]}, 2);
    const auto got = many.run("train", {{"x", x},
                                        {"y", y},
                                        {"rows", {2}},
                                        {"order", {static_cast<float>(a), static_cast<float>(b)}}});
    EXPECT_EQ(got.at("loss")[0], expected.loss);
  }
  EXPECT_EQ(many.states["dense_1/kernel"], one.states["dense_1/kernel"]);
}

TEST(Standalone, RejectsInvalidBatchCounts) {
  const auto refusal = [](int64_t batches) {
    const auto program = build_program(classifier(), options_for(true, batches));
    return program ? std::string() : program.error().message;
  };
  EXPECT_EQ(refusal(0),
            "the number of batches in memory of predict must be a positive integer, got 0");
  EXPECT_NE(refusal(int64_t{1} << 30).find("predict"), std::string::npos);
}

}  // namespace
}  // namespace lathe::nn
