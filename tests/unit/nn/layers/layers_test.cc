// Shapes and weights of the layers over images, and what a training step does to moving
// statistics; values are compared with TensorFlow.js in tests/js.
#include "lathe/nn/layers/layers.h"

#include <gtest/gtest.h>

#include "lathe/graph/evaluate.h"
#include "lathe/nn/sequential.h"
#include "lathe/nn/training/training.h"

namespace lathe::nn {
namespace {

using graph::Array;

TEST(Layers, ShapesAndWeights) {
  Sequential model;
  model.add(zero_padding2d({.padding = {1, 2}, .input_shape = {9, 8, 3}}));
  model.add(conv2d({.filters = 8, .kernel_size = {3, 2}, .strides = 2}));
  model.add(batch_normalization({}));
  model.add(depthwise_conv2d({.kernel_size = 3, .depth_multiplier = 2, .padding = "same"}));
  model.add(max_pooling2d({}));
  model.add(reshape({.target_shape = {-1, 4}}));
  model.add(flatten({}));
  ASSERT_TRUE(model.status()) << model.status().error().message;
  std::vector<Shape> shapes;
  std::vector<std::string> names;
  for (const BuiltLayer& layer : model.layers()) {
    shapes.push_back(layer.outputs[0]);
    for (const Weight& weight : layer.weights) {
      names.push_back(weight.name + (weight.trainable ? "" : " fixed"));
    }
  }
  EXPECT_EQ(shapes, (std::vector<Shape>{
                        {11, 12, 3}, {5, 6, 8}, {5, 6, 8}, {5, 6, 16}, {2, 3, 16}, {24, 4}, {96}}));
  EXPECT_EQ(names, (std::vector<std::string>{
                       "conv2d_1/kernel", "conv2d_1/bias", "batchnormalization_1/gamma",
                       "batchnormalization_1/beta", "batchnormalization_1/moving_mean fixed",
                       "batchnormalization_1/moving_variance fixed",
                       "depthwiseconv2d_1/depthwise_kernel", "depthwiseconv2d_1/bias"}));
  EXPECT_EQ(model.layers()[1].weights[0].shape, (Shape{3, 2, 3, 8}));
  EXPECT_EQ(model.layers()[3].weights[0].shape, (Shape{3, 3, 8, 2}));
}

TEST(Layers, OnlyTrainingMovesStatistics) {
  Sequential model;
  model.add(batch_normalization({.momentum = 0.75, .epsilon = 1e-6, .input_shape = {1}}));
  const TrainingOptions options{.loss = "meanSquaredError",
                                .optimizer = {"sgd", {{"learningRate", 0.0}}},
                                .batch = {.train = 4, .evaluate = 4, .predict = 2}};
  const auto program = build_program(model, options);
  ASSERT_TRUE(program) << program.error().message;
  const std::string layer = "batchnormalization_1/";
  std::map<std::string, Array> states;
  const auto set = [&](const std::string& name, float value) {
    states[layer + name] = Array::of({1}, std::span(&value, 1));
  };
  set("gamma", 1);
  set("beta", 0);
  set("moving_mean", 0);
  set("moving_variance", 1);
  // Two rows of four are there: mean 4, variance 1.
  const float x[] = {3, 5, 100, -100}, y[] = {-1, 1, 0, 0};
  const int32_t rows = 2;
  const std::map<std::string, Array> inputs = {{"x", Array::of({4, 1}, x)},
                                               {"y", Array::of({4, 1}, y)},
                                               {"rows", Array::of({}, std::span(&rows, 1))}};
  const auto trained = graph::evaluate(program->entries[0], inputs, states);
  ASSERT_TRUE(trained) << trained.error().message;
  EXPECT_NEAR(trained->at("loss")[0].f, 0, 1e-6);
  EXPECT_NEAR(states[layer + "moving_mean"][0].f, 1, 1e-6);
  EXPECT_NEAR(states[layer + "moving_variance"][0].f, 1, 1e-6);
  const auto evaluated = graph::evaluate(program->entries[1], inputs, states);
  ASSERT_TRUE(evaluated) << evaluated.error().message;
  EXPECT_NEAR(states[layer + "moving_mean"][0].f, 1, 1e-6);
  EXPECT_NEAR(evaluated->at("loss")[0].f, 9, 1e-4);
}

}  // namespace
}  // namespace lathe::nn
