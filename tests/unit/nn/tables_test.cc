// Names and parameters as users write them.
#include "lathe/nn/tables.h"

#include <gtest/gtest.h>

namespace lathe::nn {
namespace {

template <class T>
std::string refusal(const Result<T>& result) {
  return result ? "accepted" : result.error().message;
}

TEST(Names, CaseAndUnderscoresDoNotCount) {
  EXPECT_TRUE(same_name("hardSigmoid", "hard_sigmoid"));
  EXPECT_TRUE(same_name("HardSigmoid", "hardsigmoid_"));
  EXPECT_FALSE(same_name("hardSigmoid", "hardSigmoi"));
  EXPECT_FALSE(same_name("relu", "relu6"));
  EXPECT_EQ(find_activation("hard_sigmoid")->kind, ActivationKind::HardSigmoid);
  EXPECT_EQ(find_activation("geluNew")->kind, ActivationKind::GeluNew);
  EXPECT_EQ(find_loss("MSE")->kind, LossKind::MeanSquaredError);
  EXPECT_EQ(find_loss("categorical_crossentropy")->kind, LossKind::CategoricalCrossentropy);
  EXPECT_EQ(find_optimizer("RMSprop")->kind, OptimizerKind::RmsProp);
  EXPECT_EQ(find_initializer("GlorotUniform")->kind, InitializerKind::GlorotUniform);
  EXPECT_EQ(find_regularizer("L1L2")->kind, RegularizerKind::L1L2);
  EXPECT_EQ(find_constraint("max_norm")->kind, ConstraintKind::MaxNorm);
  EXPECT_EQ(find_metric("acc")->kind, MetricKind::Accuracy);
  EXPECT_EQ(find_optimizer({"adam", {{"beta_1", 0.5}}})->parameters[1], 0.5);
}

// No two rows answer to one name.
TEST(Names, AreDistinct) {
  for (const auto rows : {activations(), losses(), metrics(), optimizers(), initializers(),
                          regularizers(), constraints()}) {
    std::vector<std::string_view> names;
    for (const Row& row : rows) {
      for (const std::string_view name : {row.name, row.short_name}) {
        if (name.empty()) continue;
        for (const std::string_view other : names) EXPECT_FALSE(same_name(name, other)) << name;
        names.push_back(name);
      }
    }
  }
}

TEST(Names, RejectsUnknownNames) {
  EXPECT_EQ(refusal(find_regularizer("l3")),
            "unknown regularizer \"l3\"; did you mean \"l1\"? known: l1, l2, l1l2");
  EXPECT_EQ(refusal(find_constraint({"nonNeg", {{"axis", 0}}})),
            "unknown parameter of constraint nonNeg \"axis\"; it has none");
}

TEST(Parameters, WordsAreNumbersOfTheirList) {
  const auto chosen =
      find_initializer({"varianceScaling", {{"mode", "fan_avg"}, {"distribution", "uniform"}}});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->parameters[1], kFanAvg);
  EXPECT_EQ(chosen->parameters[2], kUniform);
  EXPECT_EQ(refusal(find_initializer({"varianceScaling", {{"mode", "fanAll"}}})),
            "unknown mode of initializer varianceScaling \"fanAll\"; did you mean \"fanAvg\"? "
            "known: fanIn, fanOut, fanAvg");
  EXPECT_EQ(refusal(find_initializer({"varianceScaling", {{"mode", 1}}})),
            "initializer varianceScaling: mode must be one of fanIn|fanOut|fanAvg, got 1");
  EXPECT_EQ(refusal(find_initializer({"varianceScaling", {{"scale", "big"}}})),
            "initializer varianceScaling: scale must be a finite number above 0, got \"big\"");
}

TEST(Parameters, AreCheckedAgainstTheirRange) {
  EXPECT_EQ(refusal(find_metric({"topKCategoricalAccuracy", {{"k", 2.5}}})),
            "metric topKCategoricalAccuracy: k must be a positive integer, got 2.5");
  EXPECT_EQ(refusal(find_constraint({"maxNorm", {{"axis", 0.5}}})),
            "constraint maxNorm: axis must be an integer, got 0.5");
  EXPECT_EQ(refusal(find_initializer({"heNormal", {{"seed", "x"}}})),
            "initializer heNormal: seed must be a finite number, got \"x\"");
  EXPECT_EQ(find_initializer({"heNormal", {{"seed", -3.5}}})->parameters[0], -3.5);
  EXPECT_EQ(find_initializer({"heNormal", {{"seed", 3}}})->parameters[0], 3);
}

TEST(Parameters, EveryOptimizerHasTheOptions) {
  for (const Row& row : optimizers()) {
    const auto chosen =
        find_optimizer({std::string(row.name), {{"clipNorm", 2}, {"weightDecay", 0.5}}});
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ(option_of(*chosen, OptimizerOption::ClipNorm), 2) << row.name;
    EXPECT_EQ(option_of(*chosen, OptimizerOption::WeightDecay), 0.5) << row.name;
    EXPECT_EQ(option_of(*chosen, OptimizerOption::GlobalClipNorm), 0) << row.name;
  }
  EXPECT_EQ(option_of(*find_optimizer("adamw"), OptimizerOption::WeightDecay), 0.004);
}

}  // namespace
}  // namespace lathe::nn
