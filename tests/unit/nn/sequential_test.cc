#include "lathe/nn/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lathe/nn/layers/activation.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/training/training.h"

namespace lathe::nn::sequential_test {
namespace {

Sequential mnist() {
  Sequential model;
  model.add(dense({.units = 128, .activation = "relu", .input_shape = {784}}));
  model.add(dense({.units = 10, .activation = "softmax"}));
  return model;
}

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

std::string error_of(const Model& model, const TrainingOptions& options) {
  const auto program = build_program(model, options);
  return program ? "" : program.error().message;
}

TEST(Sequential, AddsLayersAndNamesWeights) {
  const Sequential model = mnist();
  ASSERT_TRUE(model.status());
  ASSERT_EQ(model.layers().size(), 2u);
  EXPECT_EQ(model.layers()[0].name, "dense_1");
  EXPECT_EQ(model.layers()[1].name, "dense_2");
  EXPECT_EQ(model.layers()[0].parameter_count(), 100480);
  EXPECT_EQ(model.layers()[1].parameter_count(), 1290);
  EXPECT_EQ(model.layers()[0].weights[0].name, "dense_1/kernel");
  EXPECT_EQ(model.layers()[0].weights[0].shape, (Shape{784, 128}));
  EXPECT_EQ(model.layers()[0].weights[1].name, "dense_1/bias");
  EXPECT_EQ(model.input_shape(), (Shape{784}));
  EXPECT_EQ(model.output_shape(), (Shape{10}));
}

TEST(Sequential, DenseWorksAlongTheLastAxisAndWithoutBias) {
  Sequential model;
  model.add(dense({.units = 5, .use_bias = false, .input_shape = {28, 3}}));
  model.add(activation({.activation = "tanh"}));
  ASSERT_TRUE(model.status());
  EXPECT_EQ(model.output_shape(), (Shape{28, 5}));
  EXPECT_EQ(model.layers()[0].parameter_count(), 15);
  EXPECT_EQ(model.layers()[1].name, "activation_1");
}

TEST(Sequential, ErrorsNameTheLayer) {
  Sequential model;
  EXPECT_EQ(error_of(model.status()), "model \"sequential\" has no layers");
  model.add(dense({.units = 3}));
  EXPECT_EQ(
      error_of(model.status()),
      "model \"sequential\": layer \"dense_1\" (Dense): the first layer needs an input shape, "
      "for example [784]");
  Sequential none("m");
  none.add(nullptr);
  EXPECT_EQ(error_of(none.status()), "model \"m\": add: the layer is null");

  const auto message_of = [](DenseOptions options) {
    Sequential wrong("m");
    wrong.add(dense(std::move(options)));
    const std::string message = error_of(wrong.status());
    EXPECT_TRUE(message.starts_with("model \"m\": ")) << message;
    return message.substr(11);
  };
  EXPECT_EQ(message_of({.units = 0, .input_shape = {2}}),
            "layer \"dense_1\" (Dense): units must be a positive integer, got 0");
  EXPECT_EQ(message_of({.units = 3, .input_shape = {2, -1}}),
            "layer \"dense_1\" (Dense): input shape [2,-1]: every axis must be ≥ 1");
  EXPECT_EQ(
      message_of({.units = 3, .activation = "rellu", .input_shape = {2}}),
      "layer \"dense_1\" (Dense): unknown activation \"rellu\"; did you mean \"relu\"? known: "
      "linear, sigmoid, hardSigmoid, tanh, relu, relu6, leakyRelu, elu, selu, softplus, softsign, "
      "swish, mish, gelu, gelu_new, softmax, logSoftmax");
  EXPECT_EQ(message_of({.units = 3, .activation = {"elu", {{"alfa", 1}}}, .input_shape = {2}}),
            "layer \"dense_1\" (Dense): unknown parameter of activation elu \"alfa\"; did you mean "
            "\"alpha\"? known: alpha");
  EXPECT_EQ(
      message_of(
          {.units = 3, .bias = Choice{"constant", {{"value", INFINITY}}}, .input_shape = {2}}),
      "layer \"dense_1\" (Dense): bias: initializer constant: value must be a finite number, "
      "got inf");
  EXPECT_EQ(
      message_of({.units = 2000000000, .input_shape = {784}}),
      "layer \"dense_1\" (Dense): output shape [2000000000] does not fit the 4294967296 bytes "
      "that a module can address");
  EXPECT_EQ(message_of({.units = 100000000, .input_shape = {784}}),
            "layer \"dense_1\" (Dense): kernel [784,100000000] does not fit the 4294967296 bytes "
            "that a module can address");
  EXPECT_EQ(message_of({.units = 3, .input_shape = {2}, .name = "a b"}),
            "layer name \"a b\" must be of the characters a-z A-Z 0-9 _ - . and, after the first, "
            "/");
}

TEST(Sequential, RejectsRepeatedNamesAndWrongInputShapes) {
  Sequential twice;
  twice.add(dense({.units = 3, .input_shape = {2}, .name = "a"}));
  twice.add(dense({.units = 3, .name = "a"}));
  EXPECT_EQ(error_of(twice.status()), "model \"sequential\": two layers are called \"a\"");

  Sequential unequal;
  unequal.add(dense({.units = 3, .input_shape = {2}}));
  unequal.add(dense({.units = 3, .input_shape = {4}}));
  EXPECT_EQ(error_of(unequal.status()),
            "model \"sequential\": layer \"dense_2\" (Dense): input shape [4] is not the shape "
            "[3] of the output of layer \"dense_1\"");
}

TEST(Training, HyperparametersAreChecked) {
  const auto optimizer = [](Choice choice) {
    return error_of(mnist(), {.loss = "softmaxCrossEntropy", .optimizer = std::move(choice)});
  };
  EXPECT_EQ(optimizer("adam"), "");
  EXPECT_EQ(optimizer({"sgd", {{"learningRate", NAN}}}),
            "optimizer sgd: learningRate must be a finite number, at least 0, got nan");
  EXPECT_EQ(optimizer({"sgd", {{"learningRate", -1}}}),
            "optimizer sgd: learningRate must be a finite number, at least 0, got -1");
  EXPECT_EQ(optimizer({"sgd", {{"learningRate", 1e300}}}),
            "optimizer sgd: learningRate must be a finite number, at least 0, got 1e+300");
  EXPECT_EQ(optimizer({"adam", {{"beta2", 1}}}),
            "optimizer adam: beta2 must be a number from 0 to below 1, got 1");
  EXPECT_EQ(optimizer({"adam", {{"epsilon", 0}}}),
            "optimizer adam: epsilon must be a finite number above 0, got 0");
  EXPECT_EQ(optimizer({"momentum", {{"useNesterov", 2}}}),
            "optimizer momentum: useNesterov must be true or false, got 2");
  EXPECT_EQ(optimizer({"adam", {{"clipNorm", 1}, {"clipValue", 1}}}),
            "clipValue, clipNorm and globalClipNorm of an optimizer exclude each other");
  EXPECT_EQ(optimizer("adamm"),
            "unknown optimizer \"adamm\"; did you mean \"adam\"? known: sgd, momentum, adagrad, "
            "adadelta, adam, adamw, adamax, rmsprop");
}

TEST(Training, LossesFitTheLastActivation) {
  EXPECT_EQ(error_of(mnist(), {.loss = "sigmoidCrossEntropy"}),
            "loss sigmoidCrossEntropy requires a model that ends with sigmoid or linear, but the "
            "output of layer \"dense_2\" ends with softmax: change its activation to \"sigmoid\"");
  EXPECT_EQ(error_of(mnist(), {.loss = "mse"}), "");
  EXPECT_TRUE(error_of(mnist(), {.loss = "meanSquareError"})
                  .starts_with("unknown loss \"meanSquareError\"; did you mean "
                               "\"meanSquaredError\"? known: meanSquaredError, "));
  EXPECT_EQ(error_of(mnist(), {.optimizer = "sgd"}), "an optimizer needs a loss");

  Sequential matrix;
  matrix.add(dense({.units = 5, .input_shape = {28, 3}}));
  EXPECT_EQ(error_of(matrix, {.loss = "meanSquaredError"}), "");
}

TEST(Training, BatchesFitTheAddressSpace) {
  EXPECT_EQ(error_of(mnist(), {.batch = {.predict = 0}}),
            "batch size of predict must be a positive integer, got 0");
  EXPECT_EQ(
      error_of(mnist(), {.batch = {.predict = 2000000}}),
      "predict: input \"dense_1_input\" [2000000,784] does not fit the 4294967296 bytes that a "
      "module can "
      "address");
}

TEST(Training, EntriesAndStatesFollowTheOptions) {
  const auto names = [](const TrainingOptions& options) {
    std::string text;
    const auto program = build_program(mnist(), options);
    const auto states = variables(mnist(), options);
    for (const auto& entry : program->entries) text += entry.name + " ";
    for (const auto& variable : *states) text += variable.name + " ";
    return text;
  };
  const std::string weights = "dense_1/kernel dense_1/bias dense_2/kernel dense_2/bias ";
  EXPECT_EQ(names({}), "predict predict_1 " + weights);
  EXPECT_EQ(names({.loss = "softmaxCrossEntropy"}), "evaluate predict predict_1 " + weights);
  EXPECT_EQ(names({.loss = "softmaxCrossEntropy", .optimizer = "momentum"}),
            "train evaluate predict predict_1 " + weights +
                "optimizer/learning_rate optimizer/step optimizer/momentum/dense_1/kernel "
                "optimizer/momentum/dense_1/bias optimizer/momentum/dense_2/kernel "
                "optimizer/momentum/dense_2/bias ");
}

}  // namespace
}  // namespace lathe::nn::sequential_test
