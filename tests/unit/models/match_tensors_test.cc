#include "lathe/models/match_tensors.h"

#include <gtest/gtest.h>

#include "lathe/models/keras_tensors.h"

namespace lathe::models {
namespace {

const std::map<std::string, std::string> kNames = {{"inner/a/kernel", "a/kernel"}, {"b", "b"}};
const std::vector<NamedShape> kWeights = {{"inner/a/kernel", {2, 3}}, {"b", {3}}};

TEST(MatchTensors, WeightsHaveNamesOfEitherKind) {
  const std::vector<NamedShape> tensors = {{"b:0", {3}}, {"a/kernel", {2, 3}}, {"more", {1}}};
  const auto loose = match_weights(kNames, kWeights, tensors, false);
  ASSERT_TRUE(loose);
  ASSERT_EQ(loose->size(), 2u);
  EXPECT_EQ((*loose)[0].tensor, 1u);
  EXPECT_EQ((*loose)[1].tensor, 0u);
  EXPECT_EQ(match_weights(kNames, kWeights, tensors, true).error().message,
            "the model has no weight more");
  EXPECT_EQ(match_weights(kNames, kWeights, std::span(tensors).first(1), true).error().message,
            "the model needs inner/a/kernel, which is not there");
  const std::vector<NamedShape> other = {{"b", {4}}};
  EXPECT_EQ(match_weights(kNames, kWeights, other, false).error().message,
            "the tensor b has shape [4], but the model expects [3]");
}

// The tensor of each weight by its name, or the error.
std::string matched(const std::vector<std::string>& weights,
                    const std::vector<std::string>& tensors, bool strict = true) {
  std::vector<NamedShape> ours, theirs;
  std::map<std::string, std::string> names;
  for (const std::string& each : weights) {
    ours.push_back({each, {2, 2}});
    names[each] = each;
  }
  for (const std::string& each : tensors) theirs.push_back({each, {2, 2}});
  const auto matches = match_weights(names, ours, theirs, strict);
  if (!matches) return matches.error().message;
  std::string all;
  for (const auto [weight, tensor] : *matches) all += weights[weight] + "=" + tensors[tensor] + " ";
  return all;
}

TEST(MatchTensors, NamesMayHaveFurtherParts) {
  EXPECT_EQ(matched({"l/kernel"}, {"l/lstm_cell_1/kernel"}), "l/kernel=l/lstm_cell_1/kernel ");
  EXPECT_EQ(matched({"b/forward_forward_l/kernel"}, {"b/forward_l/lstm_cell/kernel"}),
            "b/forward_forward_l/kernel=b/forward_l/lstm_cell/kernel ");
  EXPECT_EQ(matched({"a/w", "in/a/w"}, {"m/in/a/w", "m/a/w"}), "a/w=m/a/w in/a/w=m/in/a/w ");
  EXPECT_EQ(matched({"a/w", "a/v"}, {"a/1", "a/0"}), "a/w=a/0 a/v=a/1 ");
}

TEST(MatchTensors, NumbersOfLayersMayBeOthers) {
  EXPECT_EQ(matched({"d_7/w", "d_5/w"}, {"d/w", "d_1/w"}), "d_7/w=d_1/w d_5/w=d/w ");
  EXPECT_EQ(matched({"d_7/w", "d_10/w"}, {"d_10_1/w", "d_7_1/w"}),
            "d_7/w=d_7_1/w d_10/w=d_10_1/w ");
  EXPECT_EQ(matched({"r/RNNCell_0/w", "r/RNNCell_1/w"}, {"r/c_2/w", "r/c_1/w"}),
            "r/RNNCell_0/w=r/c_1/w r/RNNCell_1/w=r/c_2/w ");
  EXPECT_EQ(matched({"d_7/w", "d_5/w"}, {"d/w", "d_1/w"}, false), "");
}

TEST(MatchTensors, NamesThatLeaveTwoAssignmentsOpenAreErrors) {
  constexpr std::string_view kOpen = "names leave open which tensor is which weight: ";
  EXPECT_EQ(matched({"x/w", "y/w"}, {"x/y/w", "y/x/w"}),
            std::string(kOpen) + "x/w (x/y/w or y/x/w), y/w (x/y/w or y/x/w)");
  // d_2 has its number in the file, so those of the others count, too.
  EXPECT_EQ(matched({"d_1/w", "d_2/w"}, {"d_2/w", "d_3/w"}), std::string(kOpen) + "d_1 (d_3)");
  EXPECT_EQ(matched({"r/RNNCell_0/w", "r/RNNCell_1/w"}, {"r/b/w", "r/a/w"}),
            std::string(kOpen) + "r/RNNCell_0 (r/b or r/a)");
  EXPECT_EQ(matched({"a/w"}, {"a/w:0", "a/w"}), "two tensors are called a/w");
  EXPECT_EQ(matched({"a/w"}, {"b/w"}), "the model needs a/w, which is not there; unused: b/w");
}

TEST(MatchTensors, TheOptimizerHasStepsPowersAndSlots) {
  const std::vector<NamedShape> states = {{"optimizer/learning_rate", {}},
                                          {"optimizer/step", {}},
                                          {"optimizer/beta1_power", {}},
                                          {"optimizer/m/inner/a/kernel", {2, 3}}};
  const std::vector<NamedShape> tensors = {{"iter", {}}, {"a/kernel/m", {2, 3}}};
  const nn::Choice adam("adam", {{"beta1", 0.5}});
  const auto matches = match_optimizer(kNames, adam, kWeights, states, tensors, 3);
  ASSERT_TRUE(matches);
  ASSERT_EQ(matches->tensors.size(), 1u);
  EXPECT_EQ(matches->tensors[0].state, 3u);
  ASSERT_EQ(matches->numbers.size(), 2u);
  EXPECT_EQ(matches->numbers[0], std::pair(size_t{1}, 3.0));
  EXPECT_EQ(matches->numbers[1], std::pair(size_t{2}, 0.0625));
  EXPECT_EQ(match_optimizer(kNames, adam, kWeights, states, tensors, -1).error().message,
            "the optimizer's iter is no count of steps");
  EXPECT_EQ(match_optimizer(kNames, adam, kWeights, states, {}, 3).error().message,
            "the optimizer needs a/kernel/m [2,3], which is missing");

  const auto saved = optimizer_tensors(kNames, kWeights, states);
  ASSERT_EQ(saved.size(), 2u);
  EXPECT_TRUE(saved[0].is_steps);
  EXPECT_EQ(saved[1].tensor.name, "a/kernel/m");
  EXPECT_EQ(saved[1].state, 3u);
}

TEST(MatchTensors, SlotsOfOtherNamesGoByTheirOrder) {
  const std::vector<NamedShape> states = {
      {"optimizer/step", {}}, {"optimizer/rms/b", {3}}, {"optimizer/rms/inner/a/kernel", {2, 3}}};
  const std::vector<NamedShape> tensors = {{"iter", {}},
                                           {"a/kernel_1/rms", {2, 3}},
                                           {"b_1/rms", {3}},
                                           {"a/kernel_1/momentum", {2, 3}},
                                           {"b_1/momentum", {3}}};
  const auto matches = match_optimizer(kNames, "rmsprop", kWeights, states, tensors, 1);
  ASSERT_TRUE(matches);
  ASSERT_EQ(matches->tensors.size(), 2u);
  EXPECT_EQ(matches->tensors[0].state, 2u);
  EXPECT_EQ(matches->tensors[0].tensor, 1u);
  EXPECT_EQ(matches->tensors[1].state, 1u);
  EXPECT_EQ(matches->tensors[1].tensor, 2u);
  EXPECT_EQ(match_optimizer(kNames, "rmsprop", kWeights, states, std::span(tensors).first(4), 1)
                .error()
                .message,
            "the optimizer needs b/rms [3], which is missing");
}

TEST(MatchTensors, RmspropIsSavedWithAMomentum) {
  const std::vector<NamedShape> states = {
      {"optimizer/step", {}}, {"optimizer/rms/b", {3}}, {"optimizer/mg/b", {3}}};
  const auto saved = optimizer_tensors(kNames, kWeights, states);
  ASSERT_EQ(saved.size(), 4u);
  EXPECT_EQ(saved[1].tensor.name, "b/rms");
  EXPECT_EQ(saved[2].tensor.name, "b/momentum");
  EXPECT_FALSE(saved[2].state);
  EXPECT_EQ(saved[3].tensor.name, "b/mg");
}

TEST(KerasTensors, WeightsLoseTheirCells) {
  const auto one = [](std::string_view layer, std::string path) {
    return keras_weights(layer, std::vector{std::move(path)})[0];
  };
  EXPECT_EQ(one("lstm", "lstm/lstm_cell_1/kernel:0"), "lstm/kernel");
  EXPECT_EQ(one("lstm", "lstm_cell/kernel:0"), "lstm/kernel");
  EXPECT_EQ(one("dense", "outer/dense/bias:0"), "dense/outer/dense/bias");
  EXPECT_EQ(one("a", "a/supercell/w"), "a/supercell/w");
  EXPECT_EQ(one("dense_1", "dense_1_W:0"), "dense_1/kernel");
  EXPECT_EQ(one("bn", "bn_running_std"), "bn/moving_variance");
  const std::vector<std::string> stacked = {"r/lstm_cell/kernel:0", "r/lstm_cell_1/kernel:0"};
  EXPECT_EQ(keras_weights("r", stacked),
            (std::vector<std::string>{"r/lstm_cell/kernel", "r/lstm_cell_1/kernel"}));
}

TEST(KerasTensors, SlotNamesPrecedeOrFollowTheWeight) {
  const std::vector<std::string> weights = {"a/kernel"};
  const std::vector<std::string> paths = {
      "Adam/iter:0", "Adam/a/kernel/m:0", "RMSprop/velocity/a/kernel:0", "Adam/other/v:0", "x", ""};
  const auto adam = keras_optimizer(paths, weights, Json());
  EXPECT_EQ(adam.steps, 0u);
  ASSERT_EQ(adam.slots.size(), 2u);
  EXPECT_EQ(adam.slots[0].name, "a/kernel/m");
  EXPECT_EQ(adam.slots[1].name, "a/kernel/rms");
  EXPECT_FALSE(adam.slots[0].divisor);
  const auto training =
      Json::parse(R"({"optimizer_config":{"class_name":"SGD","config":{"learning_rate":0.5}}})");
  const auto sgd = keras_optimizer(paths, weights, *training);
  EXPECT_EQ(sgd.slots[0].name, "a/kernel/momentum");
  EXPECT_EQ(sgd.slots[0].divisor, -0.5);
}

}  // namespace
}  // namespace lathe::models
