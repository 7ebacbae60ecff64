// Recurrent layers: shapes and weights, what masks and directions mean, gradients through time.
// Values are compared with TensorFlow.js in tests/js.
#include "lathe/nn/layers/recurrent.h"

#include <gtest/gtest.h>

#include "../model_runner.h"
#include "check_gradients.h"
#include "lathe/base/text.h"
#include "lathe/graph/evaluate.h"
#include "lathe/nn/layers/wrappers.h"

namespace lathe::nn {
namespace {

using graph::Array;
using graph::Builder;
using graph::DType;

// A call of the layer on inputs and weights of these names.
std::vector<Tensor> call(Builder& b, const LayerPtr& layer, const std::vector<Shape>& examples,
                         int64_t batch, Tensor mask = {}) {
  const LayerPlan plan = must(layer->plan_call(examples));
  std::vector<Tensor> inputs, weights;
  for (Shape shape : examples) {
    shape.insert(shape.begin(), batch);
    inputs.push_back(b.input(concat("x", inputs.size()), DType::F32, shape));
  }
  for (const Weight& weight : plan.weights) {
    weights.push_back(b.state(weight.name, DType::F32, weight.shape));
  }
  BuildState build;
  Context context(build, "layer", true);
  context.masks = {mask};
  return layer->build_call(inputs, weights, context);
}

std::map<std::string, Array> evaluate(Builder&& b, std::map<std::string, Array> inputs,
                                      std::map<std::string, Array> states) {
  const auto graph = must(std::move(b).finish());
  return must(graph::evaluate(graph, inputs, states));
}

Array ones(Shape shape) {
  const std::vector<float> values(static_cast<size_t>(graph::element_count(shape)), 1.0f);
  return Array::of(std::move(shape), values);
}

std::vector<float> floats(const Array& array) {
  std::vector<float> values;
  for (int64_t i = 0; i < graph::element_count(array.shape); ++i) values.push_back(array[i].f);
  return values;
}

// h <- h + x: what is left out is not added, and the output stays.
TEST(Recurrent, MaskedStepsPreserveTheState) {
  for (const bool backwards : {false, true}) {
    SimpleRNNOptions options;
    options.units = 1;
    options.activation = "linear";
    options.use_bias = false;
    options.return_sequences = options.return_state = true;
    options.go_backwards = backwards;
    Builder b("test");
    const Tensor mask = b.input("mask", DType::Bool, {2, 3});
    const std::vector<Tensor> outputs = call(b, simple_rnn(options), {{3, 1}}, 2, mask);
    ASSERT_EQ(outputs.size(), 2u);
    b.output("all", outputs[0]);
    b.output("last", outputs[1]);
    const float x[] = {1, 2, 4, 8, 16, 32};
    Array masked = Array::zeros(DType::Bool, {2, 3});
    for (const int at : {0, 2, 4, 5}) masked.data[static_cast<size_t>(at)] = std::byte{1};
    const auto got = evaluate(std::move(b), {{"x0", Array::of({2, 3, 1}, x)}, {"mask", masked}},
                              {{"kernel", ones({1, 1})}, {"recurrent_kernel", ones({1, 1})}});
    EXPECT_EQ(floats(got.at("last")), (std::vector<float>{5, 48}));
    EXPECT_EQ(floats(got.at("all")), backwards ? (std::vector<float>{4, 4, 5, 32, 48, 48})
                                               : (std::vector<float>{1, 1, 5, 0, 16, 48}));
  }
}

TEST(Recurrent, BothDirectionsMeetAtEachStep) {
  SimpleRNNOptions options;
  options.units = 1;
  options.activation = "linear";
  options.use_bias = false;
  options.return_sequences = true;
  Builder b("test");
  const LayerPtr layer = bidirectional({.layer = simple_rnn(options), .merge_mode = "sum"});
  b.output("all", call(b, layer, {{3, 1}}, 1)[0]);
  const float x[] = {1, 2, 4};
  std::map<std::string, Array> weights;
  for (const char* name : {"forward_SimpleRNN/kernel", "forward_SimpleRNN/recurrent_kernel",
                           "backward_SimpleRNN/kernel", "backward_SimpleRNN/recurrent_kernel"}) {
    weights[name] = ones({1, 1});
  }
  const auto got = evaluate(std::move(b), {{"x0", Array::of({1, 3, 1}, x)}}, weights);
  EXPECT_EQ(floats(got.at("all")), (std::vector<float>{8, 9, 11}));
}

TEST(Recurrent, ShapesAndWeights) {
  StackedRNNCellsOptions cells;
  LSTMCellOptions first{.units = 4, .unit_forget_bias = true};
  GRUCellOptions second{.units = 3, .reset_after = true};
  cells.cells = {lstm_cell(first), gru_cell(second)};
  RNNOptions options;
  options.cell = stacked_rnn_cells(cells);
  options.return_sequences = options.return_state = true;
  const Shape input{5, 2};
  const LayerPlan plan = must(rnn(options)->plan_call({&input, 1}));
  EXPECT_EQ(plan.outputs, (std::vector<Shape>{{5, 3}, {3}, {4}, {4}}));
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  for (const Weight& weight : plan.weights) {
    names.push_back(weight.name);
    shapes.push_back(weight.shape);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"RNNCell_0/kernel", "RNNCell_0/recurrent_kernel",
                                             "RNNCell_0/bias", "RNNCell_1/kernel",
                                             "RNNCell_1/recurrent_kernel", "RNNCell_1/bias"}));
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 16}, {4, 16}, {16}, {4, 9}, {3, 9}, {2, 9}}));
  const Variable bias{"bias", {16}, must(find_initializer(plan.weights[2].options.initializer))};
  EXPECT_EQ(initial_value(bias, 1),
            (std::vector<float>{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Recurrent, ReportsErrors) {
  const auto message = [](const LayerPtr& layer, std::vector<Shape> inputs) {
    const auto plan = layer->plan_call(inputs);
    return plan ? "" : plan.error().message;
  };
  LSTMOptions options;
  options.units = 4;
  EXPECT_EQ(message(lstm(options), {{4}}), "expects [time, features], got [4]");
  EXPECT_EQ(message(lstm(options), {{4, 2}, {4}, {3}}),
            "has 2 states, the first of shape [4]; got 2 initial states, the first of shape [4]");
  EXPECT_EQ(message(lstm({}), {{4, 2}}), "units must be a positive integer, got 0");
  EXPECT_EQ(message(rnn({}), {{4, 2}}), "cell must be a recurrent cell");
  EXPECT_EQ(message(bidirectional({}), {{4, 2}}), "layer must be a recurrent layer");
}

struct Case {
  const char* name;
  Tensor (*build)(Builder&);
};

template <class Options>
Options smooth(int64_t units) {
  Options options;
  options.units = units;
  options.recurrent_activation = "sigmoid";
  return options;
}

constexpr Case kCases[] = {
    {"lstm",
     [](Builder& b) {
       LSTMOptions options;
       static_cast<LSTMCellOptions&>(options) = smooth<LSTMCellOptions>(3);
       options.return_sequences = true;
       return call(b, lstm(options), {{3, 2}, {3}, {3}}, 2)[0];
     }},
    {"gru",
     [](Builder& b) {
       GRUOptions options;
       static_cast<GRUCellOptions&>(options) = smooth<GRUCellOptions>(2);
       options.go_backwards = true;
       return call(b, gru(options), {{3, 2}}, 2)[0];
     }},
    {"gru with the reset after the product",
     [](Builder& b) {
       GRUOptions options;
       static_cast<GRUCellOptions&>(options) = smooth<GRUCellOptions>(2);
       options.reset_after = true;
       return call(b, gru(options), {{3, 2}}, 2)[0];
     }},
    {"stacked cells in both directions",
     [](Builder& b) {
       RNNOptions options;
       options.cell = stacked_rnn_cells(
           {.cells = {simple_rnn_cell({.units = 2}), lstm_cell(smooth<LSTMCellOptions>(2))}});
       return call(b, bidirectional({.layer = rnn(options), .merge_mode = "mul"}), {{2, 2}}, 2)[0];
     }},
    {"masked lstm",
     [](Builder& b) {
       LSTMOptions options;
       static_cast<LSTMCellOptions&>(options) = smooth<LSTMCellOptions>(2);
       const Tensor mask = b.iota({2, 3}, 1) < b.iota({2, 3}, 0) + 1.0f;
       return call(b, lstm(options), {{3, 2}}, 2, mask)[0];
     }},
    {"convolutional lstm",
     [](Builder& b) {
       ConvLSTM2DOptions options;
       options.filters = 1;
       options.kernel_size = 2;
       options.recurrent_activation = "sigmoid";
       return call(b, conv_lstm2d(options), {{2, 3, 3, 1}}, 1)[0];
     }},
};

TEST(Recurrent, GradientsThroughTimeAgreeWithFiniteDifferences) {
  for (const Case& test : kCases) grad::check_gradients(test.name, test.build);
}

}  // namespace
}  // namespace lathe::nn
