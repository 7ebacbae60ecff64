#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "graph_words.h"
#include "lathe/api/lathe.h"
#include "lathe/wasm/decode.h"

namespace {

using Json = nlohmann::json;
using lathe::api_test::add;
using lathe::api_test::f32;
using lathe::api_test::input;
using lathe::api_test::number;
using lathe::api_test::operation;
using lathe::api_test::text;
using lathe::api_test::Words;

constexpr const char* kModel =
    R"({"name":"digits","seed":7,"layers":[
      {"class":"Dense","config":{"units":5,"activation":{"name":"leakyRelu","alpha":0.1},"inputShape":[3]}},
      {"class":"Dense","config":{"units":2,"activation":"softmax","name":"last"}}]})";
constexpr const char* kOptions =
    R"({"loss":"softmaxCrossEntropy","optimizer":{"name":"adam","learningRate":0.01},"labels":"sparse",
        "batch":{"train":4,"evaluate":4,"predict":2},"verify":true})";

int32_t create(const std::string& json) { return lathe_model_create(json.data(), json.size()); }
int32_t compile(int32_t model, const std::string& json) {
  return lathe_model_compile(model, json.data(), json.size());
}

std::string create_error(const std::string& json) {
  EXPECT_EQ(create(json), 0) << json;
  return lathe_error();
}

std::string layer_error(const std::string& config) {
  return create_error(R"({"layers":[{"class":"Dense","config":)" + config + "}]}");
}

TEST(Api, SummaryListsLayersAndWeights) {
  const int32_t model = create(kModel);
  ASSERT_GT(model, 0) << lathe_error();
  const Json summary = Json::parse(lathe_model_summary(model));
  EXPECT_EQ(summary["name"], "digits");
  EXPECT_EQ(summary["totalParams"], 32);
  EXPECT_EQ(summary["inputShape"], Json({3}));
  EXPECT_EQ(summary["outputShape"], Json({2}));
  EXPECT_EQ(summary["layers"][0]["outputShape"], Json({nullptr, 5}));
  EXPECT_EQ(summary["layers"][1]["name"], "last");
  EXPECT_EQ(summary["weights"][0]["name"], "dense_1/kernel");
  EXPECT_EQ(summary["weights"][0]["shape"], Json({3, 5}));
  lathe_model_free(model);
  EXPECT_EQ(lathe_model_summary(model), nullptr);
  EXPECT_EQ(std::string(lathe_error()), "there is no model " + std::to_string(model));
}

TEST(Api, ErrorsOfModelsContainTheJsonPath) {
  EXPECT_EQ(create_error("{"), "the text is not JSON: byte 1: expected a key");
  EXPECT_EQ(create_error("[]"), "the JSON text must be an object, got an array");
  EXPECT_EQ(create_error("{}"), "layers: is missing");
  EXPECT_EQ(create_error(R"({"layers":[]})"), "model \"sequential\" has no layers");
  EXPECT_EQ(create_error(R"({"layers":[],"sed":1})"),
            "unknown key \"sed\"; did you mean \"seed\"? known: name, seed, batchSize, layers, "
            "inputs, input");
  EXPECT_EQ(create_error(R"({"layers":[],"seed":-1})"),
            "seed: must be an integer from 0 to 2^53, got -1");
  EXPECT_EQ(create_error(R"({"layers":[7]})"), "layers[0]: must be an object, got 7");
  EXPECT_TRUE(create_error(R"({"layers":[{"class":"Warp"}]})")
                  .starts_with("layers[0].class: unknown layer class \"Warp\"; known: Dense, "));
  EXPECT_EQ(layer_error(R"({"units":"x","inputShape":[3]})"),
            "layers[0].config.units: must be a positive integer, got \"x\"");
  EXPECT_EQ(layer_error(R"({"units":1.5,"inputShape":[3]})"),
            "layers[0].config.units: must be a positive integer, got 1.5");
  EXPECT_EQ(layer_error(R"({"units":3,"inputShape":[3,null]})"),
            "layers[0].config.inputShape: must be an array of positive integers, got null");
  EXPECT_EQ(layer_error(R"({"units":3,"useBias":1,"inputShape":[3]})"),
            "layers[0].config.useBias: must be true or false, got 1");
  EXPECT_EQ(layer_error(R"({"unit":3})"),
            "layers[0].config: unknown key \"unit\"; did you mean \"units\"? known: units, "
            "activation, useBias, kernelInitializer, kernelRegularizer, kernelConstraint, "
            "biasInitializer, biasRegularizer, biasConstraint, inputShape, name, trainable, "
            "activityRegularizer");
  EXPECT_EQ(layer_error(R"({"units":3,"inputShape":[3],"activation":{"name":"elu","alpha":[1]}})"),
            "layers[0].config.activation.alpha: must be a number, a word, true or false, got an "
            "array");
  EXPECT_EQ(layer_error(R"({"units":3,"inputShape":[3],"activation":{"alpha":1}})"),
            "layers[0].config.activation.name: is missing");
}

constexpr const char* kShared = R"({"name":"m","inputs":[{"name":"a","shape":[2]}],"layers":[
  {"class":"Dense","config":{"units":2,"name":"d"},"inputs":[[["a"]],[["e",0,0]]]},
  {"class":"Dense","config":{"units":2,"name":"e"},"inputs":[[["d"]]]},
  {"class":"Add","config":{"name":"sum"},"inputs":[[["d",1],["a"]]]},
  {"class":"Sequential","config":{"name":"s","trainable":false,
    "layers":[{"class":"Dense","config":{"units":3,"inputShape":[2],"name":"f"}}]},
   "inputs":[[["sum"]]]}],
  "outputs":[["s"],["e"]]})";

TEST(Api, GraphsOfLayersAreModels) {
  const int32_t model = create(kShared);
  ASSERT_GT(model, 0) << lathe_error();
  const Json summary = Json::parse(lathe_model_summary(model));
  EXPECT_EQ(summary["outputs"],
            Json::parse(R"([{"name":"s","shape":[3]},{"name":"e","shape":[2]}])"));
  EXPECT_EQ(summary["layers"][0]["inputs"], Json::parse(R"([["a"],["e"]])"));
  EXPECT_EQ(summary["layers"][3]["layers"][0]["name"], "f");
  EXPECT_EQ(summary["totalParams"], 21);
  EXPECT_EQ(summary["trainableParams"], 12);
  EXPECT_EQ(summary["weights"][4],
            Json::parse(R"({"name":"s/f/kernel","shape":[2,3],"trainable":false})"));
  const int32_t executable =
      compile(model, R"({"loss":[null,"meanSquaredError"],"labels":["dense","dense"],
                         "lossWeights":[1,0.5],"optimizer":"sgd"})");
  ASSERT_GT(executable, 0) << lathe_error();
  const Json entry = Json::parse(lathe_executable_metadata(executable))["entries"][0];
  EXPECT_EQ(entry["inputs"][1]["name"], "y/e");
  lathe_executable_free(executable);
  EXPECT_EQ(compile(model, R"({"loss":"meanSquaredError","labels":["dense","sparse","dense"]})"),
            0);
  EXPECT_EQ(std::string(lathe_error()), "the model has 2 outputs, but there are 3 kinds of labels");
  lathe_model_free(model);
}

TEST(Api, ErrorsOfGraphsContainTheJsonPath) {
  const auto error = [](const std::string& layer_inputs, const std::string& outputs) {
    return create_error(R"({"inputs":[{"name":"a","shape":[2]}],"layers":[{"class":"Dense",
      "config":{"units":2,"name":"d"},"inputs":)" +
                        layer_inputs + R"(}],"outputs":)" + outputs + "}");
  };
  EXPECT_EQ(error(R"([[["b"]]])", R"([["d"]])"),
            "layers[0].inputs: call 0 of \"b\" does not exist, or depends on its result");
  EXPECT_EQ(error(R"([[["d"]]])", R"([["d"]])"),
            "layers[0].inputs: call 0 of \"d\" does not exist, or depends on its result");
  EXPECT_EQ(error(R"([[["a"]]])", R"([["d",1]])"),
            "outputs: call 1 of \"d\" does not exist, or depends on its result");
  EXPECT_EQ(error(R"([[["a"]]])", R"([["d",0,1]])"),
            "outputs: \"d\" has 1 outputs, so there is no output 1");
  EXPECT_EQ(error(R"([[["a",-1]]])", R"([["d"]])"),
            "layers[0].inputs: must be [name], [name, call] or [name, call, output]");
  EXPECT_EQ(error(R"(["a"])", R"([["d"]])"),
            "layers[0].inputs: must be a list of calls, each a list of [name, call, output]");
  EXPECT_EQ(error(R"([[["a"]]])", "7"), "outputs: must be an array");
  EXPECT_EQ(error(R"([[["a"]]])", "[]"), "model \"model\" has no outputs");
}

TEST(Api, RejectsMaliciousJson) {
  EXPECT_EQ(create_error(std::string(100000, '[')),
            "the text is not JSON: byte 32: nested too deep");
  EXPECT_EQ(create_error(std::string(2000000, ' ')),
            "JSON text of 2000000 bytes; the limit is 1048576");
  EXPECT_EQ(create_error(std::string("\xff\xfe\0{", 4)),
            "the text is not JSON: byte 0: expected a value");
  EXPECT_EQ(create_error(R"({"layers":[],"seed":1e999})"),
            "the text is not JSON: byte 25: the number before is too large");
  EXPECT_EQ(lathe_model_create(nullptr, 0), 0);
  EXPECT_EQ(lathe_executable_bytes(-5), nullptr);
  EXPECT_EQ(lathe_executable_size(0), 0u);
  lathe_model_free(-1);
}

TEST(Api, ErrorsOfOptionsContainTheJsonPath) {
  const int32_t model = create(kModel);
  const auto error = [model](const std::string& json) {
    EXPECT_EQ(compile(model, json), 0) << json;
    return std::string(lathe_error());
  };
  EXPECT_EQ(error(R"({"labels":"dens"})"), "labels: must be \"dense\" or \"sparse\", got \"dens\"");
  EXPECT_EQ(error(R"({"batch":{"train":0}})"), "batch.train: must be a positive integer, got 0");
  EXPECT_EQ(error(R"({"features":{"simd":3}})"), "features.simd: must be true or false, got 3");
  EXPECT_EQ(error(R"({"loss":"softmaxCrossEntropy","optimizer":{"name":"sgd","learningRate":-1}})"),
            "optimizer sgd: learningRate must be a finite number, at least 0, got -1");
  EXPECT_EQ(error(R"({"dumps":["inside:x"]})"),
            "dump \"inside:x\" must be before:PASS or after:PASS");
  EXPECT_TRUE(error(R"({"dumps":["after:nothing"]})").starts_with("unknown pass \"nothing\""));
  lathe_model_free(model);
}

TEST(Api, ChecksHowAModelLearnsWithoutCompiling) {
  const int32_t model = create(kModel);
  const auto check = [model](const std::string& json) {
    return lathe_model_check(model, json.data(), json.size());
  };
  const int32_t before = lathe_live_objects();
  EXPECT_EQ(check(kOptions), 1) << lathe_error();
  EXPECT_EQ(lathe_live_objects(), before);
  for (const char* json :
       {R"({"loss":"softmaxCrossEntropy","optimizer":{"name":"sgd","learningRate":-1}})",
        R"({"loss":"meanSquaredError","labels":["dense","sparse","dense"]})", R"({"loss":3})",
        "{"}) {
    EXPECT_EQ(compile(model, json), 0);
    const std::string expected = lathe_error();
    EXPECT_EQ(check(json), 0) << json;
    EXPECT_EQ(std::string(lathe_error()), expected);
  }
  lathe_model_free(model);
  EXPECT_EQ(check(kOptions), 0);
}

TEST(Api, ListsAcceptsAndMeasuresSchedules) {
  const int32_t model = create(kModel);
  const int32_t first = compile(model, kOptions);
  const Json listed = Json::parse(lathe_executable_contractions(first));
  ASSERT_FALSE(listed.empty());
  const auto found = std::find_if(listed.begin(), listed.end(),
                                  [](const Json& each) { return !each["candidates"].empty(); });
  ASSERT_NE(found, listed.end());
  const Json candidate = (*found)["candidates"][0];
  EXPECT_NE(candidate, (*found)["schedule"]);
  EXPECT_EQ((*found)["schedule"], (*found)["standard"]);

  Json options = Json::parse(kOptions);
  options["schedules"][(*found)["key"].get<std::string>()] = candidate;
  const int32_t second = compile(model, options.dump());
  ASSERT_GT(second, 0) << lathe_error();
  for (const Json& each : Json::parse(lathe_executable_contractions(second))) {
    EXPECT_EQ(each["schedule"], each["key"] == (*found)["key"] ? candidate : each["standard"]);
  }

  const auto kernel = [first](const Json& request) {
    const std::string text = request.dump();
    return lathe_executable_kernel(first, text.data(), text.size());
  };
  const int32_t measured = kernel({{"key", (*found)["key"]}, {"schedule", candidate}});
  ASSERT_GT(measured, 0) << lathe_error();
  EXPECT_EQ(Json::parse(lathe_executable_metadata(measured))["entries"][0]["name"], "run");
  EXPECT_EQ(kernel({{"key", "f32 |"}}), 0);
  EXPECT_EQ(std::string(lathe_error()), "the module has no contraction \"f32 |\"");
  EXPECT_EQ(kernel({{"key", (*found)["key"]}, {"schedule", {{"row", 3}}}}), 0);
  EXPECT_TRUE(std::string(lathe_error()).starts_with("schedule: unknown key \"row\""));
  for (const int32_t each : {first, second, measured}) lathe_executable_free(each);
  lathe_model_free(model);
  EXPECT_EQ(lathe_live_objects(), 0);
}

TEST(Api, ReturnsModulesWithoutDataForCallersThatInitializeMemory) {
  const int32_t graph = lathe_graph_create();
  lathe_graph_entry(graph, "run", 3);
  const Words three = f32({3});
  EXPECT_EQ(number(input(graph, text("x"), three)), 1);
  const float numbers[] = {1, 2, 4};
  const auto add_constant = [&](size_t size) {
    void* memory = lathe_alloc(size);
    std::memcpy(memory, numbers, size);
    return number(lathe_graph_constant(graph, three.data(), three.size(), memory, size));
  };
  EXPECT_EQ(add_constant(sizeof(numbers)), 2);
  EXPECT_EQ(add_constant(8), 0);  // and its memory is freed
  EXPECT_EQ(number(add(graph, operation("add", {1, 2}))), 3);
  EXPECT_EQ(lathe_graph_output(graph, "y", 1, 3), 1);
  const int32_t executable = lathe_graph_compile(graph, "{}", 2);
  ASSERT_GT(executable, 0) << lathe_error();
  lathe_graph_free(graph);

  const size_t* parts = lathe_executable_parts(executable);
  ASSERT_EQ(parts[2], 1u);
  ASSERT_EQ(parts[5], sizeof(numbers));
  EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(parts[4]), numbers, sizeof(numbers)), 0);
  const auto complete =
      lathe::wasm::decode({lathe_executable_bytes(executable), lathe_executable_size(executable)});
  const auto code = lathe::wasm::decode({reinterpret_cast<const uint8_t*>(parts[0]), parts[1]});
  ASSERT_TRUE(complete && code);
  EXPECT_TRUE(code->data.empty());
  ASSERT_EQ(complete->data.size(), 1u);
  EXPECT_EQ(complete->data[0].offset.instructions[0].value, parts[3]);
  EXPECT_EQ(complete->functions.size(), code->functions.size());
  EXPECT_EQ(lathe_executable_parts(0), nullptr);
  lathe_executable_free(executable);
}

TEST(Api, CompilesAGraphForTheLastTime) {
  const int32_t graph = lathe_graph_create();
  lathe_graph_entry(graph, "run", 3);
  EXPECT_EQ(number(input(graph, text("x"), f32({3}))), 1);
  EXPECT_EQ(lathe_graph_output(graph, "y", 1, 1), 1);
  const int32_t executable = lathe_graph_take_compiled(graph, "{}", 2);
  ASSERT_GT(executable, 0) << lathe_error();
  EXPECT_EQ(lathe_graph_output(graph, "z", 1, 1), 0);
  EXPECT_STREQ(lathe_error(), "the program has no entry yet");
  lathe_graph_free(graph);
  lathe_executable_free(executable);
  EXPECT_EQ(lathe_live_objects(), 0);
}

TEST(Api, CompilesToAModuleWithMetadataAndInitialStates) {
  const int32_t model = create(kModel);
  const int32_t executable = compile(model, kOptions);
  ASSERT_GT(executable, 0) << lathe_error();
  lathe_model_free(model);
  const uint8_t* bytes = lathe_executable_bytes(executable);
  ASSERT_GT(lathe_executable_size(executable), 8u);
  EXPECT_EQ(std::memcmp(bytes, "\0asm\1\0\0\0", 8), 0);
  EXPECT_NE(lathe_wat(bytes, lathe_executable_size(executable)), nullptr) << lathe_error();
  EXPECT_EQ(lathe_wat(bytes, lathe_executable_size(executable) / 2), nullptr);

  const Json metadata = Json::parse(lathe_executable_metadata(executable));
  size_t trainable = 0;
  int32_t state_index = 0;
  for (const Json& state : metadata["states"]) {
    const auto* initial =
        static_cast<const float*>(lathe_executable_initial(executable, &state_index, 1));
    ++state_index;
    ASSERT_NE(initial, nullptr) << lathe_error();
    trainable += state["trainable"].get<bool>();
    if (state["name"] == "optimizer/learning_rate") {
      EXPECT_FLOAT_EQ(*initial, 0.01f);
    }
    if (state["name"] == "optimizer/beta1_power") {
      EXPECT_FLOAT_EQ(*initial, 0.9f);
    }
    if (state["name"] == "dense_1/kernel") {
      EXPECT_NE(*initial, 0);
    }
  }
  EXPECT_EQ(trainable, 4u);
  EXPECT_EQ(lathe_executable_initial(executable, &state_index, 1), nullptr);
  EXPECT_EQ(std::string(lathe_error()), "the module has no state " + std::to_string(state_index));
  EXPECT_EQ(metadata["entries"].size(), 4u);
  EXPECT_EQ(std::string(lathe_executable_dumps(executable)), "[]");
  lathe_executable_free(executable);
}

TEST(Api, DumpsShowThePasses) {
  const int32_t model = create(kModel);
  const int32_t executable = compile(model, R"({"dumps":["after:*"]})");
  ASSERT_GT(executable, 0) << lathe_error();
  const Json dumps = Json::parse(lathe_executable_dumps(executable));
  const Json tables = Json::parse(lathe_describe());
  EXPECT_GE(dumps.size(), tables["passes"].size());
  lathe_executable_free(executable);
  lathe_model_free(model);
}

TEST(Api, ExportedModulesStartWithTheirStates) {
  const int32_t model = create(kModel);
  const int32_t executable = compile(model, "{}");
  ASSERT_GT(executable, 0) << lathe_error();
  const int32_t all[] = {0, 1, 2, 3};
  const void* states = lathe_executable_initial(executable, all, std::size(all));
  const int32_t exported = lathe_executable_export(executable, states);
  ASSERT_GT(exported, 0) << lathe_error();
  EXPECT_EQ(lathe_live_objects(), 3);
  const Json metadata = Json::parse(lathe_executable_metadata(exported));
  ASSERT_EQ(metadata["entries"].size(), 2u);
  EXPECT_EQ(metadata["entries"][0]["name"], "predict");
  EXPECT_EQ(metadata["states"].size(), 4u);
  lathe_executable_free(executable);
  lathe_executable_free(exported);
  lathe_model_free(model);
  EXPECT_EQ(lathe_live_objects(), 0);
}

TEST(Api, SameSeedSameModule) {
  const int32_t model = create(kModel);
  const int32_t one = compile(model, kOptions), other = compile(model, kOptions);
  ASSERT_EQ(lathe_executable_size(one), lathe_executable_size(other));
  EXPECT_EQ(std::memcmp(lathe_executable_bytes(one), lathe_executable_bytes(other),
                        lathe_executable_size(one)),
            0);
  for (const int32_t each : {one, other}) lathe_executable_free(each);
  lathe_model_free(model);
}

TEST(Api, DescribeListsTheTables) {
  const Json tables = Json::parse(lathe_describe());
  for (const char* key : {"dtypes", "scalarOps", "activations", "losses", "optimizers",
                          "initializers", "layers", "passes"}) {
    EXPECT_FALSE(tables[key].empty()) << key;
  }
  EXPECT_EQ(tables["dtypes"][0],
            Json::parse(R"({"name":"bool","numpy":"bool","array":"Uint8Array"})"));
  EXPECT_EQ(tables["optimizers"][1]["name"], "momentum");
  EXPECT_EQ(tables["optimizers"][1]["parameters"][2]["default"], false);
  const Json dense = tables["layers"][0];
  EXPECT_EQ(dense["class"], "Dense");
  EXPECT_EQ(dense["options"][0],
            Json::parse(R"({"name":"units","type":"integer","default":null})"));
  EXPECT_EQ(dense["options"][2], Json::parse(R"({"name":"useBias","type":"flag","default":true})"));
}

TEST(Api, WatRejectsInvalidModules) {
  EXPECT_EQ(lathe_wat(reinterpret_cast<const uint8_t*>("nonsense"), 8), nullptr);
  EXPECT_NE(std::string(lathe_error()), "");
}

TEST(Api, AllocReturnsMemory) {
  void* memory = lathe_alloc(100);
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 1, 100);
  lathe_free(memory);
  lathe_free(lathe_alloc(0));
}

// A layer of the host: x · w + x, where w has one element.
char* answer(const char* question, size_t length) {
  const Json request = Json::parse(std::string(question, length));
  Json reply;
  if (request["layer"] == 8) {
    reply["error"] = "layer 8 is broken";
  } else if (request["layer"] == 9 && request.contains("graph")) {
    EXPECT_EQ(lathe_graph_free(request["graph"].get<int32_t>()), 1);
  } else if (request.contains("shapes")) {
    reply["weights"] = {{{"name", "w"}, {"shape", {1}}, {"initializer", "ones"}}};
  } else {
    const auto graph = request["graph"].get<int32_t>();
    const auto x = request["inputs"][0].get<int32_t>();
    const auto w = request["weights"][0].get<int32_t>();
    const double product = number(add(graph, operation("mul", Words{x * 1.0, w * 1.0})));
    reply["outputs"] = {number(add(graph, operation("add", Words{product, x * 1.0})))};
    EXPECT_EQ(lathe_graph_entry(graph, "more", 4), 0);
    EXPECT_EQ(lathe_graph_output(graph, "y", 1, x), 0);
  }
  const std::string text = reply.dump();
  char* result = static_cast<char*>(lathe_alloc(text.size() + 1));
  std::memcpy(result, text.c_str(), text.size() + 1);
  return result;
}

std::string host_model(int id) {
  return R"({"layers":[{"class":"Custom","config":{"inputShape":[3],"theirs":[1]},"host":{"id":)" +
         std::to_string(id) + "}}]}";
}

TEST(Api, LayerHostsBuildCustomLayers) {
  EXPECT_EQ(create_error(host_model(7)),
            "model \"sequential\": layer \"custom_1\" (Custom): is implemented by a layer host, "
            "and none is registered");
  lathe_use_layer_host(answer);
  const int32_t model = create(host_model(7));
  ASSERT_GT(model, 0) << lathe_error();
  const Json summary = Json::parse(lathe_model_summary(model));
  EXPECT_EQ(summary["layers"][0]["class"], "Custom");
  EXPECT_EQ(summary["weights"][0]["name"], "custom_1/w");
  EXPECT_EQ(summary["outputShape"], Json({3}));
  const int32_t executable =
      compile(model, R"({"loss":"mse","optimizer":"sgd","batch":{"train":4},"verify":true})");
  ASSERT_GT(executable, 0) << lathe_error();
  lathe_executable_free(executable);
  EXPECT_EQ(create_error(host_model(8)),
            "model \"sequential\": layer \"custom_1\" (Custom): layer 8 is broken");
  EXPECT_EQ(
      create_error(host_model(9)),
      "model \"sequential\": layer \"custom_1\" (Custom): the layer's host freed the graph that "
      "it borrowed");
  lathe_use_layer_host(nullptr);
  EXPECT_EQ(compile(model, "{}"), 0);
  EXPECT_EQ(std::string(lathe_error()),
            "layer \"custom_1\" (Custom): is implemented by a layer host, and none is registered");
  lathe_model_free(model);
}

}  // namespace
