#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/models/network_writer.h"
#include "lathe/models/null_axes.h"
#include "lathe/models/read_topology.h"
#include "lathe/models/saved_weights.h"
#include "lathe/models/write_topology.h"
#include "lathe/network/network_json.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/nn/sequential.h"

namespace lathe::models {
namespace {

// The layers within, for options that need them.
template <class Options>
void fill(Options& options) {
  nn::LSTMOptions inner;
  inner.units = 2;
  nn::LSTMCellOptions step;
  step.units = 2;
  if constexpr (requires { options.layer; }) options.layer = nn::lstm(inner);
  if constexpr (requires { options.cell = nn::LayerPtr(); }) options.cell = nn::lstm_cell(step);
  if constexpr (requires { options.cells; }) options.cells = {nn::lstm_cell(step)};
}

template <class Options>
void expect_options(nn::LayerPtr (*make)(Options), std::string_view class_name) {
  Options options;
  fill(options);
  const nn::LayerPtr layer = make(options);
  EXPECT_EQ(layer->class_name(), class_name);
  EXPECT_NE(layer->template options<Options>(), nullptr) << class_name;
}

TEST(Topology, EveryLayerStoresItsOptions) {
#define LATHE_LAYER(class_, function_, ...) expect_options(nn::function_, #class_);
#include "lathe/nn/tables.def"
}

nn::Sizes sizes(std::vector<int64_t> values) {
  nn::Sizes all;
  all.values = std::move(values);
  return all;
}

nn::Model parsed(const std::string& json) {
  auto model = network::parse_model(json);
  EXPECT_TRUE(model) << model.error().message;
  return std::move(*model);
}

// A model survives writing and reading.
void expect_round_trip(const nn::Model& model) {
  const auto topology = write_topology(model);
  ASSERT_TRUE(topology) << topology.error().message;
  const auto read = read_topology(*topology);
  ASSERT_TRUE(read) << read.error().message << topology->dump();
  EXPECT_TRUE(read->left_out.empty());
  const auto reread = network::parse_model(read->network.dump());
  ASSERT_TRUE(reread) << reread.error().message << read->network.dump();
  EXPECT_EQ(network::summary(*reread), network::summary(model));
  const auto rewritten = write_topology(*reread);
  ASSERT_TRUE(rewritten);
  EXPECT_EQ(rewritten->dump(), topology->dump());
}

TEST(Topology, ComesBackFromKeras) {
  nn::Sequential row("row");
  row.add(nn::conv2d(
      {.filters = 3, .kernel_size = {3, 2}, .padding = "same", .input_shape = {8, 8, 2}}));
  row.add(nn::zero_padding2d({.padding = sizes({1, 2, 3, 4})}));
  row.add(nn::leaky_relu({.alpha = 0.1}));
  row.add(nn::reshape({.target_shape = sizes({-1, 5})}));
  const nn::Choice start("varianceScaling", {{"mode", nn::Setting("fanOut")}});
  row.add(nn::dense({.units = 2, .activation = "softmax", .kernel = start, .trainable = false}));
  expect_round_trip(row);
}

TEST(Topology, AnActivationWithParametersIsALayerOfKeras) {
  nn::Sequential row("row");
  row.add(nn::activation({.activation = {"leakyRelu", {{"alpha", 0.1}}}, .input_shape = {2}}));
  const auto topology = write_topology(row);
  const Json& layer = topology->at("config").at("layers").values()[0];
  EXPECT_EQ(layer.at("class_name").string(), "LeakyReLU");
  EXPECT_EQ(layer.at("config").at("alpha").number(), 0.1);
}

constexpr const char* kGraph =
    R"({"name":"graph","inputs":[{"name":"a","shape":[4,3]},{"name":"b","shape":[4,3]}],"layers":[
      {"class":"LSTM","config":{"name":"shared","units":5,"returnSequences":true,"kernelRegularizer":{"name":"l2","l2":0.1}},"inputs":[[["a"]],[["b"]]]},
      {"class":"Bidirectional","config":{"name":"both","layer":{"class":"GRU","config":{"name":"inside","units":2}},"mergeMode":"sum"},"inputs":[[["shared",1]]]},
      {"class":"Model","config":{"name":"inner","inputs":[{"name":"x","shape":[4,5]}],"layers":[
        {"class":"TimeDistributed","config":{"name":"td","layer":{"class":"Dense","config":{"units":3}}},"inputs":[[["x"]]]}],"outputs":[["td"]]},"inputs":[[["shared",0]],[["shared",1]]]},
      {"class":"RNN","config":{"name":"cells","cell":{"class":"StackedRNNCells","config":{"cells":[{"class":"LSTMCell","config":{"units":2}},{"class":"GRUCell","config":{"units":3}}]}}},"inputs":[[["inner",1]]]},
      {"class":"Concatenate","config":{"name":"concatenated"},"inputs":[[["both"],["cells"]]]}],
     "outputs":[["concatenated"],["inner",0]]})";

TEST(Topology, AReLUWithoutABoundOmitsIt) {
  nn::Sequential row("row");
  row.add(nn::relu({.input_shape = {2}, .name = "open"}));
  row.add(nn::relu({.max_value = 6, .name = "bounded"}));
  const auto topology = write_topology(row);
  ASSERT_TRUE(topology) << topology.error().message;
  const auto& layers = topology->at("config").at("layers").values();
  EXPECT_EQ(layers[0].at("config").find("max_value"), nullptr) << "0 would be the bound";
  EXPECT_EQ(layers[1].at("config").at("max_value").number(), 6);
}

TEST(Topology, ALayerWithinAnotherHasTheNameOfItsWeights) {
  nn::LSTMOptions steps;
  steps.units = 2;
  nn::Sequential row("row");
  row.add(nn::bidirectional({.layer = nn::lstm(steps), .input_shape = {3, 4}, .name = "both"}));
  const auto topology = write_topology(row);
  ASSERT_TRUE(topology) << topology.error().message;
  const Json& inner = topology->at("config").at("layers").values()[0].at("config").at("layer");
  const Json* name = inner.at("config").find("name");
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(row.weights()[0].name, concat("both/forward_", name->string(), "/kernel"));
}

TEST(Topology, AModelAtEveryStepComesBack) {
  nn::Sequential row("row_within");
  row.add(nn::dense({.units = 4, .input_shape = {3}, .name = "a"}));
  row.add(nn::reshape({.target_shape = {2, -1}, .name = "b"}));
  nn::Model graph("graph_within");
  const auto x = graph.input({3}, "x");
  const auto y = graph.call(nn::dense({.units = 3, .name = "c"}), x);
  graph.output(graph.call(nn::add({.name = "d"}), {x, y}));
  for (const nn::Model& within : {nn::Model(row), graph}) {
    nn::Sequential outer("outer");
    outer.add(nn::time_distributed(
        {.layer = nn::as_layer(within), .input_shape = {5, 3}, .name = "steps"}));
    expect_round_trip(outer);
    const std::string weight = within.weights()[0].name;
    EXPECT_EQ(saved_names(outer).at(concat("steps/", weight)), weight) << "as TensorFlow.js has it";
  }
}

TEST(Topology, GraphsComeBackFromKeras) { expect_round_trip(parsed(kGraph)); }

TEST(Topology, WeightsAreNamedAsTensorFlowJsDoes) {
  const auto names = saved_names(parsed(kGraph));
  EXPECT_EQ(names.at("inner/td/kernel"), "td/kernel");
  EXPECT_EQ(names.at("both/forward_inside/kernel"), "both/forward_inside/kernel");
  EXPECT_EQ(names.at("shared/bias"), "shared/bias");
}

TEST(Topology, RejectsCustomLayers) {
  struct Options {
    LATHE_LAYER_OPTIONS;
  };
  struct Custom : nn::UnaryLayer {
    Custom() : UnaryLayer(Options()) {}
    std::string_view class_name() const override { return "Dense"; }
    Result<nn::UnaryPlan> plan(const nn::Shape& input) const override {
      return nn::UnaryPlan{input};
    }
    nn::Tensor build(nn::Tensor x, std::span<const nn::Tensor>, nn::Context&) const override {
      return x;
    }
  };
  nn::Model model;
  const auto x = model.input({2});
  model.output(model.call(std::make_shared<Custom>(), x));
  EXPECT_EQ(write_topology(model).error().message,
            "layer \"dense_1\" (Dense) cannot be saved: it is no layer of the package");
}

TEST(Topology, ANetworkDescribesTheEntireModel) {
  const nn::Model model = parsed(kGraph);
  const Json network = write_network(model);
  EXPECT_EQ(network::summary(parsed(network.dump())), network::summary(model));
}

TEST(Topology, ClassesOfTheProgramHaveAnyOption) {
  const std::string layers =
      R"("config":[{"class_name":"Custom","config":{"name":"a","my_text":"some_word","batch_input_shape":[null,3],)"
      R"("my_activation":"leaky_relu"}},{"class_name":"Custom","config":{"name":"b","batch_input_shape":[null,9]}}]})";
  const std::vector<std::string> classes = {"Custom"};
  const auto options = [&](const std::string& version) {
    const auto read = read_topology(
        *Json::parse(concat(R"({"class_name":"Sequential",)", version, layers)), classes);
    return read ? read->network.at("layers").values()[0].at("config").dump() : read.error().message;
  };
  EXPECT_EQ(options(""),
            R"({"name":"a","myText":"someWord","inputShape":[3],"myActivation":"leakyRelu"})");
  EXPECT_EQ(options(R"("keras_version":"tensorlathe",)"),
            R"({"name":"a","myText":"some_word","inputShape":[3],"myActivation":"leakyRelu"})");
  const auto none = read_topology(*Json::parse(concat(R"({"class_name":"Sequential",)", layers)));
  EXPECT_EQ(none.error().message, "layer \"a\" (Custom) is of an unknown class");
}

TEST(Topology, StringsOfCustomClassesAreVerbatim) {
  const auto network = Json::parse(
      R"({"name":"n","layers":[{"class":"Custom","config":{"name":"a","someText":"aWord"},"host":{"id":1}}]})");
  const auto summary = Json::parse(R"({"layers":[{"name":"a","outputShape":[null,2]}]})");
  const auto topology = write_topology(*network, *summary);
  ASSERT_TRUE(topology);
  const Json& config = topology->at("config").at("layers").values()[0].at("config");
  EXPECT_EQ(config.dump(), R"({"name":"a","some_text":"aWord","trainable":true})");
  const auto lambda = Json::parse(
      R"({"name":"n","layers":[{"class":"Lambda","config":{"name":"a"},"host":{"id":1}}]})");
  EXPECT_EQ(write_topology(*lambda, *summary).error().message,
            "layer \"a\" is a function, which cannot be saved; make it a class that extends "
            "tl.layers.Layer");
}

TEST(Topology, ListsAllProblems) {
  const auto json = Json::parse(
      R"({"class_name":"Sequential","config":{"name":"s","layers":[
        {"class_name":"Dense","config":{"name":"a","units":2,"batch_input_shape":[null,3],"lora_rank":4}},
        {"class_name":"Hashing","config":{"name":"b"}},
        {"class_name":"Dense","config":{"name":"c","units":2,"activation":"rellu"}}]}})");
  const auto read = analyze_topology(*json);
  ASSERT_EQ(read.problems.size(), 3u);
  EXPECT_EQ(read.problems[0],
            "layer \"a\" (Dense) has the option lora_rank = 4, which is not supported");
  EXPECT_EQ(read.problems[1], "layer \"b\" (Hashing) is of an unknown class");
  EXPECT_TRUE(read.problems[2].starts_with(
      "layer \"c\" (Dense): activation \"rellu\" is not supported; known: linear, "));
  EXPECT_EQ(read_topology(*json).error().message, read.problems[0]);
}

TEST(Topology, BindsNullAxes) {
  const auto network = Json::parse(
      R"({"name":"m","layers":[
        {"class":"Conv2D","config":{"filters":2,"kernelSize":3,"inputShape":[null,null,3]}},
        {"class":"Sequential","config":{"layers":[{"class":"GlobalMaxPooling2D","config":{"inputShape":[null,null,2]}}]}}]})");
  EXPECT_EQ(count_null_axes(*network), 2u);
  EXPECT_EQ(bind_null_axes(*network, {}).error().message,
            "the inputs [null,null,3] have 2 axes of any size (null), so they need 2 sizes, got 0");
  const std::vector<int64_t> good = {8, 6};
  const auto fixed = bind_null_axes(*network, good);
  ASSERT_TRUE(fixed) << fixed.error().message;
  const nn::Model model = parsed(fixed->dump());
  EXPECT_EQ(model.input_shape(), (nn::Shape{8, 6, 3}));
  EXPECT_EQ(model.output_shape(), (nn::Shape{2}));
  const std::vector<int64_t> small = {2, 2};
  EXPECT_FALSE(bind_null_axes(*network, small));
}

}  // namespace
}  // namespace lathe::models
