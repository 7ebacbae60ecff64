// Models that are no row of layers: shared layers, several inputs and outputs, nested and frozen
// ones, against reference implementations and finite differences.
#include "lathe/nn/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lathe/graph/verify.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/nn/sequential.h"
#include "model_runner.h"

namespace lathe::nn {
namespace {

std::string error_of(const Model& model, const TrainingOptions& options = {}) {
  const auto program = build_program(model, options);
  return program ? "" : program.error().message;
}

DenseOptions named(std::string name, int64_t units, Choice activation = "linear") {
  return {.units = units, .activation = std::move(activation), .name = std::move(name)};
}

DenseOptions scale(std::string name, float by) {
  return {.units = 1,
          .use_bias = false,
          .kernel = Choice{"constant", {{"value", by}}},
          .name = std::move(name)};
}

TrainingOptions sgd_at_rate_one(PerOutput<Choice> loss, int64_t batch) {
  return {.loss = std::move(loss),
          .optimizer = {"sgd", {{"learningRate", 1}}},
          .batch = {batch, batch, batch}};
}

// With SGD at rate 1 a weight moves by its gradient, which evaluate's loss confirms.
void expect_true_gradients(ModelRunner& runner, const std::map<std::string, Numbers>& inputs) {
  for (const graph::Graph& entry : runner.program().entries) {
    const Status valid = graph::verify(entry);
    EXPECT_TRUE(valid) << (valid ? "" : valid.error().message);
  }
  const auto start = runner.states;
  runner.run("train", inputs);
  const auto moved = runner.states;
  for (const auto& [name, values] : start) {
    if (name.starts_with("optimizer/")) continue;
    for (size_t i = 0; i < values.size(); ++i) {
      constexpr float kStep = 1.0f / 64;
      const auto loss_at = [&](float offset) {
        runner.states = start;
        runner.states[name][i] += offset;
        return runner.run("evaluate", inputs).at("loss")[0];
      };
      const float slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(values[i] - moved.at(name)[i], slope, 1e-3) << name << i;
    }
  }
  runner.states = moved;
}

TEST(Model, SharedLayersHaveOneSetOfWeights) {
  Model model;
  const ModelValue x = model.input({1});
  const LayerPtr shared = dense(scale("w", 3));
  model.output(model.call(shared, model.call(shared, x)));
  ASSERT_TRUE(model.status()) << model.status().error().message;
  EXPECT_EQ(model.layers().size(), 1u);
  EXPECT_EQ(model.calls().size(), 2u);
  EXPECT_EQ(model.weights().size(), 1u);
  ModelRunner runner(model, sgd_at_rate_one("meanSquaredError", 2));
  EXPECT_EQ(runner.predict("predict", {1, 2}), (Numbers{9, 18}));
  // The loss (w² x - y)² has the gradient 4 w x (w² x - y).
  runner.run("train", {{"x", {1, 0.5f}}, {"y", {8, 5}}, {"rows", {2}}});
  EXPECT_NEAR(runner.states["w/kernel"][0], 3 - (12 * 1 - 6 * 0.5f) / 2, 1e-4);
}

TEST(Model, ResidualNetworkHasTrueGradients) {
  Model model("residual", 5);
  const ModelValue x = model.input({3});
  const ModelValue h = model.call(dense(named("h", 4, "tanh")), x);
  const ModelValue r = model.call(dense(named("r", 4, "sigmoid")), h);
  const ModelValue both = model.call(add(), {h, r});
  const ModelValue wide = model.call(concatenate(), {both, x});
  model.output(model.call(dense(named("y", 2, "softmax")), wide));
  ASSERT_TRUE(model.status()) << model.status().error().message;
  EXPECT_EQ(model.shape(wide), (Shape{7}));
  ModelRunner runner(model, sgd_at_rate_one("softmaxCrossEntropy", 2));
  expect_true_gradients(
      runner, {{"x", {0.5f, -1, 0.25f, 1, 0.5f, -0.75f}}, {"y", {1, 0, 0, 1}}, {"rows", {2}}});
}

TEST(Model, SeveralInputsAndOutputs) {
  Model model("two", 7);
  const ModelValue a = model.input({2}, "a"), b = model.input({3}, "b");
  const ModelValue h = model.call(concatenate(), {model.call(dense(named("da", 2, "tanh")), a),
                                                  model.call(dense(named("db", 2)), b)});
  model.output(model.call(dense(named("class", 3, "softmax")), h));
  model.output(model.call(dense(named("size", 1)), h));
  TrainingOptions options =
      sgd_at_rate_one(std::vector<Choice>{"softmaxCrossEntropy", "meanSquaredError"}, 2);
  options.labels = std::vector{Labels::Sparse, Labels::Dense};
  options.loss_weights = std::vector{1.0, 0.25};
  ModelRunner runner(model, options);
  const std::map<std::string, Numbers> inputs = {{"x/a", {1, -1, 0.5f, 2}},
                                                 {"x/b", {0, 1, -1, 0.5f, 0.5f, 0}},
                                                 {"y/class", {2, 0}},
                                                 {"y/size", {1, 3}},
                                                 {"rows", {2}}};
  auto scores = runner.run("evaluate", inputs);
  EXPECT_NEAR(scores["loss"][0], scores["loss/class"][0] + 0.25f * scores["loss/size"][0], 1e-6);
  const auto predicted = runner.run("predict", inputs);
  const Numbers& sizes = predicted.at("y/size");
  EXPECT_NEAR(scores["loss/size"][0], (std::pow(sizes[0] - 1, 2) + std::pow(sizes[1] - 3, 2)) / 2,
              1e-5);
  const Numbers& classes = predicted.at("y/class");
  EXPECT_NEAR(scores["loss/class"][0], -(std::log(classes[2]) + std::log(classes[3])) / 2, 1e-5);
  EXPECT_TRUE(scores.contains("correct/class"));
  EXPECT_TRUE(scores.contains("correct/size"));
  expect_true_gradients(runner, inputs);
}

TEST(Model, AnOutputMayGoWithoutLoss) {
  Model model;
  const ModelValue x = model.input({1});
  model.output(model.call(dense(scale("a", 2)), x));
  model.output(model.call(dense(scale("b", 3)), x));
  ModelRunner runner(model, sgd_at_rate_one(std::vector<Choice>{{}, "meanSquaredError"}, 1));
  const auto scores = runner.run("train", {{"x", {1}}, {"y/b", {2}}, {"rows", {1}}});
  EXPECT_FLOAT_EQ(scores.at("loss")[0], 1);
  EXPECT_FALSE(scores.contains("loss/a"));
  EXPECT_FLOAT_EQ(runner.states["a/kernel"][0], 2);
  EXPECT_FLOAT_EQ(runner.states["b/kernel"][0], 1);
}

TEST(Model, NestedModelsAcceptOtherInputShapesThatFitTheirWeights) {
  Sequential inner("inner");
  inner.add(dense({.units = 2, .input_shape = {3}, .name = "a"}));
  inner.add(flatten({}));
  const LayerPtr nested = as_layer(inner);
  Model outer("outer", 3);
  const ModelValue x = outer.input({4, 3}), y = outer.input({3});
  outer.output(outer.call(nested, x));
  outer.output(outer.call(nested, y));
  ASSERT_TRUE(outer.status()) << outer.status().error().message;
  EXPECT_EQ(outer.shape(outer.outputs()[0].value), (Shape{8}));
  EXPECT_EQ(outer.shape(outer.outputs()[1].value), (Shape{2}));
  ASSERT_EQ(outer.weights().size(), 2u);

  Model wrong("wrong");
  wrong.output(wrong.call(nested, wrong.input({4, 5})));
  EXPECT_EQ(
      wrong.status().error().message,
      "model \"wrong\": layer \"inner\" (Model): layer \"a\": its weights fit inputs of shape "
      "[3], so it cannot be called with [4,5]");
  const auto without = inner.with_inputs({});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().message, "with_inputs: 0 shapes for 1 inputs");
}

TEST(Model, NestedModelsAreFlat) {
  Sequential inner("inner");
  inner.add(dense({.units = 4, .activation = "tanh", .input_shape = {3}, .name = "a"}));
  inner.add(dense(named("b", 2, "softmax")));
  Sequential middle("middle");
  middle.add(as_layer(inner));
  Model outer("outer", 3);
  outer.output(outer.call(as_layer(middle), outer.input({3})));
  ASSERT_TRUE(outer.status()) << outer.status().error().message;
  ASSERT_EQ(outer.weights().size(), 4u);
  EXPECT_EQ(outer.weights()[0].name, "middle/inner/a/kernel");
  EXPECT_EQ(outer.last_activation(0)->kind, ActivationKind::Softmax);

  Sequential flat("flat", 3);
  flat.add(dense({.units = 4, .activation = "tanh", .input_shape = {3}, .name = "a"}));
  flat.add(dense(named("b", 2, "softmax")));
  const TrainingOptions options = sgd_at_rate_one("softmaxCrossEntropy", 1);
  ModelRunner nested(outer, options), plain(flat, options);
  for (auto& [name, values] : plain.states) {
    if (!name.starts_with("optimizer/")) values = nested.states.at("middle/inner/" + name);
  }
  const Numbers x = {0.5f, -1, 2}, y = {0, 1};
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(nested.step("train", x, y, 1).loss, plain.step("train", x, y, 1).loss);
  }
  EXPECT_EQ(nested.predict("predict", x), plain.predict("predict", x));
}

TEST(Model, FrozenLayersStayAsTheyAre) {
  Sequential base("base");
  base.add(dense({.units = 2, .input_shape = {2}, .name = "a"}));
  base.add(batch_normalization({.name = "bn"}));
  Sequential model;
  model.add(as_layer(base, false));
  model.add(dense({.units = 1, .name = "head"}));
  const TrainingOptions options{
      .loss = "meanSquaredError", .optimizer = "adam", .batch = {2, 2, 2}};
  for (const Variable& variable : must(variables(model, options))) {
    EXPECT_FALSE(variable.name.starts_with("optimizer/m/base/")) << variable.name;
  }
  ModelRunner runner(model, options);
  const auto before = runner.states;
  const Numbers x = {1, 2, 3, 4}, y = {1, 2};
  const float trained = runner.step("train", x, y, 2).loss;
  for (const auto& [name, values] : before) {
    if (!name.starts_with("base/")) continue;
    EXPECT_EQ(runner.states[name], values) << name;
  }
  EXPECT_NE(runner.states["head/kernel"], before.at("head/kernel"));
  // Moving statistics, as when it does not train.
  runner.states = before;
  EXPECT_FLOAT_EQ(runner.step("evaluate", x, y, 2).loss, trained);
}

TEST(Model, SharedStatisticsMoveTwice) {
  Model model;
  const LayerPtr bn = batch_normalization({.momentum = 0.5, .name = "bn"});
  const ModelValue a = model.input({1}, "a"), b = model.input({1}, "b");
  model.output(model.call(add(), {model.call(bn, a), model.call(bn, b)}));
  ModelRunner runner(model, sgd_at_rate_one("meanSquaredError", 1));
  runner.run("train", {{"x/a", {4}}, {"x/b", {8}}, {"y", {0}}, {"rows", {1}}});
  EXPECT_FLOAT_EQ(runner.states["bn/moving_mean"][0], (0 * 0.5f + 4 * 0.5f) * 0.5f + 8 * 0.5f);
}

TEST(Model, LossIsTheMeanOverAllPositions) {
  Sequential model("steps", 4);
  model.add(dense({.units = 3, .activation = "softmax", .input_shape = {2, 4}, .name = "a"}));
  TrainingOptions options = sgd_at_rate_one("softmaxCrossEntropy", 2);
  options.labels = Labels::Sparse;
  ModelRunner runner(model, options);
  Numbers x(16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const Numbers classes = {0, 2, 1, 1};
  const Numbers p = runner.predict("predict", x);
  float loss = 0;
  for (size_t position = 0; position < 4; ++position) {
    loss -= std::log(p[position * 3 + static_cast<size_t>(classes[position])]) / 4;
  }
  const std::map<std::string, Numbers> inputs = {{"x", x}, {"y", classes}, {"rows", {2}}};
  EXPECT_NEAR(runner.run("evaluate", inputs).at("loss")[0], loss, 1e-5);
  expect_true_gradients(runner, inputs);
}

struct NoOptions {
  LATHE_LAYER_OPTIONS;
};

// Of an input [time, 1]: leaves out the steps that are zero.
class LeaveOutZeros final : public UnaryLayer {
 public:
  LeaveOutZeros() : UnaryLayer(NoOptions{}) {}
  std::string_view class_name() const override { return "LeaveOutZeros"; }
  Result<UnaryPlan> plan(const Shape& input) const override { return UnaryPlan{input}; }
  Tensor build(Tensor x, std::span<const Tensor>, Context& context) const override {
    const Tensor flat = x.builder->reshape(x, {x.shape()[0], x.shape()[1]});
    context.output_masks = {flat > x.builder->scalar(0)};
    return x;
  }
};

// Adds 1 to every step; supports masking or not.
class AddOne final : public UnaryLayer {
 public:
  explicit AddOne(bool masking) : UnaryLayer(NoOptions{}), masking_(masking) {}
  std::string_view class_name() const override { return "AddOne"; }
  bool supports_masking() const override { return masking_; }
  Result<UnaryPlan> plan(const Shape& input) const override { return UnaryPlan{input}; }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override { return x + 1.0f; }

 private:
  bool masking_;
};

// [time, 1] -> [1, time], with the mask of the first.
class SwapAxes final : public UnaryLayer {
 public:
  SwapAxes() : UnaryLayer(NoOptions{}) {}
  std::string_view class_name() const override { return "SwapAxes"; }
  bool supports_masking() const override { return true; }
  Result<UnaryPlan> plan(const Shape& input) const override {
    return UnaryPlan{{input[1], input[0]}};
  }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return x.builder->permute(x, {0, 2, 1});
  }
};

// Sum of the steps that count, [time, 1] -> [1]; adds its mean over the batch to the loss.
class SumOfSteps final : public UnaryLayer {
 public:
  SumOfSteps() : UnaryLayer(NoOptions{}) {}
  std::string_view class_name() const override { return "SumOfSteps"; }
  Result<UnaryPlan> plan(const Shape&) const override { return UnaryPlan{{1}}; }
  Tensor build(Tensor x, std::span<const Tensor>, Context& context) const override {
    const Tensor mask = context.masks[0];
    if (mask.builder != nullptr) {
      x = x * x.builder->reshape(x.builder->cast(mask, graph::DType::F32), x.shape());
    }
    const Tensor total = sum(x, {1});
    context.add_loss(mean(total, {0, 1}));
    return total;
  }
};

TEST(Model, MasksGoWithTheirValues) {
  for (const bool masking : {true, false}) {
    for (const bool nested : {true, false}) {
      LayerPtr inner = std::make_shared<AddOne>(masking);
      if (nested) {
        Model model("inner");
        model.output(model.call(inner, model.input({3, 1})));
        inner = as_layer(std::move(model));
      }
      Model model;
      const ModelValue masked = model.call(std::make_shared<LeaveOutZeros>(), model.input({3, 1}));
      model.output(model.call(std::make_shared<SumOfSteps>(), model.call(inner, masked)));
      ModelRunner runner(model, {.batch = {.predict = 2}});
      EXPECT_EQ(runner.predict("predict", {1, 0, 3, 0, 0, 5}),
                masking ? (Numbers{6, 6}) : (Numbers{7, 8}));
    }
  }
}

// What is left of [1, 0, 3] and [0, 5, 6] after a layer that merges them, where their zeros are
// left out.
Numbers merged_steps(const LayerPtr& layer, bool second_too) {
  Model model;
  const auto leave_out = std::make_shared<LeaveOutZeros>();
  const ModelValue x = model.input({3, 1}), y = model.input({3, 1});
  const ModelValue first = model.call(leave_out, x);
  const ModelValue both = model.call(layer, {first, second_too ? model.call(leave_out, y) : y});
  model.output(model.call(std::make_shared<SumOfSteps>(), both));
  ModelRunner runner(model, {.batch = {.predict = 1}});
  return runner.run("predict", {{"x/input_1", {1, 0, 3}}, {"x/input_2", {0, 5, 6}}}).at("y");
}

TEST(Model, StepsAreUnmaskedAfterAMergeWhereTheyAreInEveryInput) {
  EXPECT_EQ(merged_steps(add(), true), (Numbers{9}));
  EXPECT_EQ(merged_steps(add(), false), (Numbers{10}));
  EXPECT_EQ(merged_steps(multiply(), true), (Numbers{18}));
  EXPECT_EQ(merged_steps(average(), true), (Numbers{4.5f}));
  EXPECT_EQ(merged_steps(maximum(), true), (Numbers{6}));
  EXPECT_EQ(merged_steps(minimum(), true), (Numbers{3}));
}

TEST(Model, AMergeLeavesOutMasksOfOtherAxes) {
  Model model;
  const ModelValue x = model.call(std::make_shared<LeaveOutZeros>(), model.input({3, 1}));
  const ModelValue swapped = model.call(std::make_shared<SwapAxes>(), x);
  model.output(model.call(add(), {swapped, swapped}));
  model.output(model.call(concatenate(), {swapped, swapped}));
  EXPECT_TRUE(build_program(model, {}));
}

TEST(Model, MasksFollowEachOtherAlongTheStepsOfAConcatenation) {
  EXPECT_EQ(merged_steps(concatenate({.axis = 1}), true), (Numbers{15}));
  EXPECT_EQ(merged_steps(concatenate({.axis = 1}), false), (Numbers{15}));
}

TEST(Model, WeightsFitAModuleTogether) {
  Model model;
  ModelValue x = model.input({1});
  for (int i = 0; i < 5; ++i) x = model.call(dense({.units = 20000}), x);
  model.output(x);
  EXPECT_EQ(
      model.status().error().message,
      "model \"model\": layer \"dense_4\" (Dense): its weights and those of preceding layers have "
      "4800400000 bytes, of the 4294967296 that a module can address");
  Model one;
  one.output(
      one.call(dense({.units = 500}), one.call(dense({.units = 1'000'000}), one.input({1}))));
  EXPECT_TRUE(variables(one, {.loss = "meanSquaredError", .optimizer = "sgd"}));
  const auto too_large = variables(one, {.loss = "meanSquaredError", .optimizer = "adam"});
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().message,
            "the weights and the states of layers and optimizer have 5744 MiB; a module can "
            "address 4096 MiB");
}

TEST(Model, GeneratedNamesOfManyLayersAreFast) {
  Sequential model;
  model.add(relu({.input_shape = {1}}));
  for (int i = 0; i < 6000; ++i) model.add(relu({}));
  EXPECT_TRUE(model.status());
  EXPECT_EQ(model.layers().back().name, "relu_6001");
}

// One number of each example.
class Total final : public UnaryLayer {
 public:
  Total() : UnaryLayer(NoOptions{}) {}
  std::string_view class_name() const override { return "Total"; }
  Result<UnaryPlan> plan(const Shape&) const override { return UnaryPlan{{}}; }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override { return sum(x, {1}); }
};

TEST(Model, LayersThatRequireAnAxisRejectScalars) {
  const LayerPtr layers[] = {dense({.units = 1}),
                             batch_normalization({}),
                             layer_normalization({}),
                             flatten({}),
                             embedding({.input_dim = 2, .output_dim = 2}),
                             max_pooling1d({}),
                             softmax({}),
                             repeat_vector({.n = 2})};
  for (const LayerPtr& layer : layers) {
    Model model;
    model.output(model.call(layer, model.call(std::make_shared<Total>(), model.input({3}))));
    if (layer == layers[0]) {
      EXPECT_EQ(model.status().error().message,
                "model \"model\": layer \"dense_1\" (Dense): expects examples of one axis or more, "
                "got [], a scalar per example; a preceding layer can retain an axis of size 1, as "
                "sum(-1, true) does, or reshape its result to [batch, 1]");
    }
    if (model.status()) ModelRunner(model, {}).predict("predict", Numbers(64 * 3));
  }
}

// Plans to preserve the shape, but does not for batches of three rows.
class Fickle final : public UnaryLayer {
 public:
  Fickle() : UnaryLayer(NoOptions{}) {}
  std::string_view class_name() const override { return "Fickle"; }
  Result<UnaryPlan> plan(const Shape& input) const override { return UnaryPlan{input}; }
  Tensor build(Tensor x, std::span<const Tensor>, Context&) const override {
    return x.shape()[0] == 3 ? sum(x, {1}, true) : x;
  }
};

TEST(Model, RejectsLayersThatDeviateFromTheirPlan) {
  for (const bool nested : {false, true}) {
    LayerPtr layer = std::make_shared<Fickle>();
    if (nested) {
      Model inner("inner");
      inner.output(inner.call(layer, inner.input({2})));
      layer = as_layer(std::move(inner));
    }
    Model model;
    const ModelValue after = model.call(layer, model.input({2}));
    model.output(model.call(dense({.units = 1}), after));
    EXPECT_TRUE(build_program(model, {.batch = {.predict = 2}}));
    const char* message = "layer \"fickle_1\" (Fickle): returns [3,1], but its plan has [3,2]";
    const auto rejected = build_program(model, {.batch = {.predict = 3}});
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().message, message);
    const auto untrained = build_program(
        model, {.loss = "mse", .optimizer = "sgd", .batch = {.train = 3, .predict = 2}});
    ASSERT_FALSE(untrained);
    EXPECT_EQ(untrained.error().message, message);
  }
}

TEST(Model, LayersAddToTheLoss) {
  Model model;
  const ModelValue steps = model.call(reshape({.target_shape = {1, 1}}),
                                      model.call(dense(scale("w", 2)), model.input({1})));
  model.output(model.call(std::make_shared<SumOfSteps>(), steps));
  ModelRunner runner(model, sgd_at_rate_one("meanSquaredError", 1));
  const auto scores = runner.run("evaluate", {{"x", {3}}, {"y", {5}}, {"rows", {1}}});
  EXPECT_FLOAT_EQ(scores.at("loss")[0], 1 + 6);
  runner.run("train", {{"x", {3}}, {"y", {5}}, {"rows", {1}}});
  EXPECT_FLOAT_EQ(runner.states["w/kernel"][0], 2 - (2 * 1 * 3 + 3));
}

TEST(Model, MergesBroadcastAfterTheBatch) {
  Model model;
  const ModelValue a = model.input({2, 3}, "a"), b = model.input({3}, "b");
  for (const LayerPtr& layer : {add(), subtract(), multiply(), average(), maximum(), minimum()}) {
    model.output(model.call(layer, {a, b}));
  }
  model.output(model.call(concatenate({.axis = 1}), {a, a}));
  ASSERT_TRUE(model.status()) << model.status().error().message;
  ModelRunner runner(model, {.batch = {.predict = 2}});
  auto y = runner.run(
      "predict", {{"x/a", {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}}, {"x/b", {1, 2, 4, 0, 0, 10}}});
  EXPECT_EQ(y["y/add_1"], (Numbers{2, 4, 7, 5, 7, 10, 1, 2, 13, 4, 5, 16}));
  EXPECT_EQ(y["y/subtract_1"], (Numbers{0, 0, -1, 3, 3, 2, 1, 2, -7, 4, 5, -4}));
  EXPECT_EQ(y["y/multiply_1"], (Numbers{1, 4, 12, 4, 10, 24, 0, 0, 30, 0, 0, 60}));
  EXPECT_EQ(y["y/average_1"], (Numbers{1, 2, 3.5f, 2.5f, 3.5f, 5, 0.5f, 1, 6.5f, 2, 2.5f, 8}));
  EXPECT_EQ(y["y/maximum_1"], (Numbers{1, 2, 4, 4, 5, 6, 1, 2, 10, 4, 5, 10}));
  EXPECT_EQ(y["y/minimum_1"], (Numbers{1, 2, 3, 1, 2, 4, 0, 0, 3, 0, 0, 6}));
  EXPECT_EQ(y["y/concatenate_1"].size(), 24u);
}

TEST(Model, ErrorsNameTheLayer) {
  const auto message_of = [](auto build) {
    Model model("m");
    build(model);
    const std::string message = error_of(model);
    EXPECT_TRUE(message.starts_with("model \"m\"")) << message;
    return message.substr(std::min<size_t>(message.size(), 9));
  };
  EXPECT_EQ(message_of([](Model&) {}), " has no layers");
  EXPECT_EQ(message_of([](Model& m) { m.call(nullptr, m.input({2})); }),
            ": call: the layer is null");
  EXPECT_EQ(message_of([](Model& m) { m.input({2}); }), " has no outputs");
  EXPECT_EQ(message_of([](Model& m) {
              m.input({2, 0});
            }),
            ": input \"input_1\" [2,0]: every axis must be ≥ 1");
  EXPECT_EQ(message_of([](Model& m) { m.call(add(), std::vector<ModelValue>{}); }),
            ": layer \"add_1\" (Add): is called with no input");
  EXPECT_EQ(message_of([](Model& m) { m.call(add(), m.input({2})); }),
            ": layer \"add_1\" (Add): expects at least two inputs, got one");
  EXPECT_EQ(message_of([](Model& m) {
              m.call(add(), {m.input({2}), m.input({3})});
            }),
            ": layer \"add_1\" (Add): the inputs [2], [3] do not broadcast to one shape");
  EXPECT_EQ(message_of([](Model& m) {
              m.call(flatten({}), {m.input({2}), m.input({3})});
            }),
            ": layer \"flatten_1\" (Flatten): expects one input, got 2");
  // Who goes by the shapes of values gets as far as the report.
  EXPECT_EQ(Model().shape(ModelValue{}), Shape{});
  EXPECT_EQ(message_of([](Model& m) { m.call(flatten({}), ModelValue{7}); }),
            ": layer \"flatten_1\" (Flatten): the model has no value 7");
  EXPECT_EQ(message_of([](Model& m) {
              const LayerPtr shared = dense({.units = 1});
              m.call(shared, m.input({2}));
              m.call(shared, m.input({3}));
            }),
            ": layer \"dense_1\" (Dense): its weights fit inputs of shape [2], so it cannot be "
            "called with [3]");
  EXPECT_EQ(
      message_of([](Model& m) { m.call(dense({.units = 1, .name = "a"}), m.input({2}, "a")); }),
      ": layer name \"a\" is that of an input");
  EXPECT_EQ(
      message_of([](Model& m) { m.output(m.input({2}), "/a"); }),
      ": output name \"/a\" must be of the characters a-z A-Z 0-9 _ - . and, after the first, "
      "/");
  EXPECT_EQ(message_of([](Model& m) {
              const ModelValue x = m.input({2, 3});
              m.call(concatenate({.axis = 0}), {x, x});
            }),
            ": layer \"concatenate_1\" (Concatenate): axis 0 must be one of 1 to 2, or -1 to -2 "
            "from the end, for inputs [2,3], [2,3]");
  EXPECT_EQ(message_of([](Model& m) {
              m.call(concatenate(), {m.input({2, 3}), m.input({1, 3})});
            }),
            ": layer \"concatenate_1\" (Concatenate): the inputs [2,3], [1,3] differ in more than "
            "axis 2");
}

TEST(Model, OptionsFitTheOutputs) {
  Model model("m");
  const ModelValue x = model.input({2});
  model.output(model.call(dense(named("a", 1)), x)).output(model.call(dense(named("b", 1)), x));
  EXPECT_EQ(error_of(model, {.loss = std::vector<Choice>(3, "meanSquaredError")}),
            "the model has 2 outputs, but there are 3 losses");
  EXPECT_EQ(error_of(model, {.loss = "meanSquaredError",
                             .loss_weights = std::vector<double>{1, INFINITY}}),
            "a loss weight must be a finite number, got inf");
  EXPECT_EQ(error_of(model, {.loss = "meanSquaredError", .loss_weights = std::vector<double>{}}),
            "the model has 2 outputs, but there are 0 loss weights");
}

}  // namespace
}  // namespace lathe::nn
