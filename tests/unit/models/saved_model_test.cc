#include "lathe/models/saved_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "lathe/base/text.h"
#include "lathe/models/onnx_file.h"
#include "lathe/network/network_json.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/nn/sequential.h"
#include "lathe/wasm/decode.h"
#include "lathe/wasm/validate.h"

namespace lathe::models {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

SavedModel sample(std::string optimizer = "adam") {
  nn::Sequential model("sample", 7);
  model.add(nn::dense({.units = 4, .activation = "relu", .input_shape = {3}, .name = "a"}));
  nn::LSTMOptions steps;
  steps.units = 2;
  steps.name = "steps";
  model.add(nn::reshape({.target_shape = {2, 2}, .name = "as_steps"}));
  model.add(nn::bidirectional({.layer = nn::lstm(steps), .name = "both"}));
  model.add(nn::dense({.units = 1, .name = "b"}));
  SavedModel saved{std::move(model), {}, {}, {}};
  saved.training = {.loss = "meanSquaredError", .optimizer = {std::move(optimizer)}};
  saved.training.metrics = {{"mae"}};
  saved.states = nn::initial_states(*nn::variables(saved.model, saved.training), 3);
  return saved;
}

// A new folder, removed at the end.
struct Folder {
  std::string path = (fs::temp_directory_path() / concat("lathe_models_", ::getpid())).string();
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }

  Files files() const {
    Files files;
    for (const auto& entry : fs::directory_iterator(path)) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }
};

Files saved_files(const SavedModel& saved, const SaveOptions& options = {}) {
  const Folder folder;
  const Status status = save_model(folder.path, saved, options);
  EXPECT_TRUE(status) << status.error().message;
  return folder.files();
}

Result<SavedModel> read(const Files& files, const LoadOptions& options = {}) {
  const auto read_file = [&](std::string_view path) -> Result<std::vector<std::byte>> {
    const auto at = files.find(std::string(path));
    if (at == files.end()) return fail(concat(path, ": No such file or directory"));
    const auto* bytes = reinterpret_cast<const std::byte*>(at->second.data());
    return std::vector<std::byte>(bytes, bytes + at->second.size());
  };
  return read_model(files.at("model.json"), "model.json", read_file, options);
}

std::string message(const auto& result) {
  return result ? std::string("none") : result.error().message;
}

TEST(SavedModel, ComesBackFromItsFolder) {
  const SavedModel saved = sample();
  const Folder folder;
  ASSERT_TRUE(save_model(folder.path, saved, {.includes_optimizer = true}));
  ASSERT_TRUE(save_model(folder.path, saved, {.includes_optimizer = true})) << "over the first";
  for (const std::string& path : {folder.path, folder.path + "/model.json"}) {
    const auto loaded = load_model(path);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty());
    EXPECT_EQ(network::summary(loaded->model), network::summary(saved.model));
    EXPECT_EQ(loaded->training.optimizer.name, "adam");
    EXPECT_EQ(loaded->training.loss[0].name, "meanSquaredError");
    ASSERT_EQ(loaded->training.metrics.size(), 1u);
    EXPECT_EQ(loaded->states.size(), saved.states.size());
    for (const auto& [name, array] : saved.states) {
      EXPECT_EQ(loaded->states.at(name).data, array.data) << name;
    }
  }
  EXPECT_EQ(message(load_model("/nowhere/at/all")), "/nowhere/at/all: No such file or directory");
}

TEST(SavedModel, EveryOptimizerComesBack) {
  for (const nn::Row& row : nn::optimizers()) {
    SavedModel saved = sample(std::string(row.name));
    saved.states["optimizer/step"] = graph::Array::of({}, std::vector<float>{3});
    const auto loaded = read(saved_files(saved, {.includes_optimizer = true}));
    ASSERT_TRUE(loaded) << row.name << ": " << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty()) << row.name << ": " << loaded->warnings[0];
    EXPECT_EQ(loaded->training.optimizer.name, row.name);
    for (const auto& [name, array] : saved.states) {
      if (name.ends_with("_power")) continue;
      EXPECT_EQ(loaded->states.at(name).data, array.data) << row.name << ": " << name;
    }
    if (row.name == "adam") {
      const float factor = 0.9f;
      EXPECT_EQ(loaded->states.at("optimizer/beta1_power")[0].f, factor * factor * factor * factor);
    }
  }
}

// A model of two outputs, a and b.
nn::Model forked() {
  nn::Model two("two");
  const auto x = two.input({3}, "x");
  for (const char* name : {"a", "b"}) {
    two.output(two.call(nn::dense({.units = 2, .name = name}), x));
  }
  return two;
}

TEST(SavedModel, MetricsMayGoByOutput) {
  SavedModel saved{forked()};
  saved.training = {.loss = "mse", .optimizer = "sgd", .metrics = {{"mae"}, {"mape", "mae"}}};
  saved.states = nn::initial_states(*nn::variables(saved.model, saved.training), 3);
  const Files files = saved_files(saved, {.includes_optimizer = true});
  const std::string lists = R"("tensorlathe_metrics":[["mae"],["mape","mae"]])";
  for (const char* metrics_json :
       {R"([["mae"],["mape","mae"]])", R"({"b":["mape","mae"],"a":"mae"})"}) {
    Files changed = files;
    std::string& text = changed["model.json"];
    const size_t at = text.find(lists);
    ASSERT_NE(at, text.npos) << text;
    text.replace(at, lists.size(), concat("\"tensorlathe_metrics\":", metrics_json));
    const auto loaded = read(changed);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto& metrics = loaded->training.metrics;
    ASSERT_EQ(metrics.size(), 2u) << metrics_json;
    ASSERT_EQ(metrics[0].size(), 1u);
    EXPECT_EQ(metrics[0][0].name, "mae");
    ASSERT_EQ(metrics[1].size(), 2u);
    EXPECT_EQ(metrics[1][0].name, "mape");
  }
}

TEST(SavedModel, LabelsAndLossComeBack) {
  constexpr auto kSparse = nn::Labels::Sparse, kDense = nn::Labels::Dense;
  const nn::Model two = forked();
  struct Case {
    nn::PerOutput<nn::Choice> loss;
    nn::PerOutput<nn::Labels> labels;
    std::string_view theirs;
  };
  for (const Case& each : {Case{"softmaxCrossEntropy", kSparse, "sparse_categorical_crossentropy"},
                           Case{"softmaxCrossEntropy", kDense, "categorical_crossentropy"},
                           Case{"softmaxCrossEntropy", std::vector{kDense, kSparse},
                                "sparse_categorical_crossentropy"},
                           Case{std::vector<nn::Choice>{"mse", "sigmoidCrossEntropy"}, kDense,
                                "binary_crossentropy"}}) {
    SavedModel saved{two};
    saved.training = {.loss = each.loss, .optimizer = "sgd", .labels = each.labels};
    saved.states = nn::initial_states(*nn::variables(two, saved.training), 3);
    const Files files = saved_files(saved, {.includes_optimizer = true});
    EXPECT_TRUE(files.at("model.json").contains(concat('"', each.theirs, '"')));
    const auto loaded = read(files);
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (size_t output : {0, 1}) {
      EXPECT_EQ(loaded->training.loss[output].name, each.loss[output].name);
      EXPECT_EQ(loaded->training.labels[output], each.labels[output]) << each.theirs;
    }
  }
}

TEST(SavedModel, WeightsMayHaveFewerBits) {
  const SavedModel saved = sample();
  for (const auto bits : {formats::Bits::Float16, formats::Bits::UInt16, formats::Bits::UInt8}) {
    const auto loaded = read(saved_files(saved, {.bits = bits}));
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->training.loss.values.empty());
    const auto &was = saved.states.at("a/kernel"), &is = loaded->states.at("a/kernel");
    for (int64_t i = 0; i < 12; ++i) EXPECT_NEAR(was[i].f, is[i].f, 0.01);
  }
}

TEST(SavedModel, BecomesOneModule) {
  const SavedModel saved = sample();
  const auto bytes = export_module(saved);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto module = wasm::decode(*bytes);
  ASSERT_TRUE(module);
  EXPECT_TRUE(wasm::validate(*module));
}

TEST(SavedModel, OnnxHasMissingStatesFromTheSeed) {
  SavedModel saved = sample();
  saved.states = nn::initial_states(saved.model.weights(), saved.model.seed());
  const auto unseeded = to_onnx(saved);
  ASSERT_TRUE(unseeded) << unseeded.error().message;
  saved.states.erase("a/kernel");
  const auto seeded = to_onnx(saved);
  ASSERT_TRUE(seeded) << seeded.error().message;
  EXPECT_EQ(*seeded, *unseeded);
}

TEST(SavedModel, ReplacesTheSavedModel) {
  const Folder folder;
  SavedModel saved = sample();
  ASSERT_TRUE(save_model(folder.path, saved));
  const Files first = folder.files();
  std::ofstream(folder.path + "/group1-shard1of1.bin") << "of somebody else";
  ASSERT_TRUE(save_model(folder.path, saved, {.bits = formats::Bits::Float16}));
  const Files second = folder.files();
  EXPECT_EQ(second.size(), first.size() + 1);
  EXPECT_TRUE(second.contains("group1-shard1of1.bin"));
  EXPECT_TRUE(load_model(folder.path));
  ASSERT_TRUE(save_model(folder.path, saved, {.bits = formats::Bits::Float16}));
  EXPECT_EQ(folder.files(), second);
}

TEST(SavedModel, StatesThatTheModelDoesNotHaveAreErrors) {
  const Folder folder;
  SavedModel saved = sample();
  saved.states["a/kernle"] = saved.states.at("a/kernel");
  const std::string expected = "the model has no weight \"a/kernle\"";
  EXPECT_EQ(message(save_model(folder.path, saved)), expected);
  EXPECT_EQ(message(export_module(saved)), expected);
  EXPECT_EQ(message(to_onnx(saved)), expected);
}

TEST(SavedModel, StatesOfOtherShapesAreErrors) {
  const Folder folder;
  const graph::Array good = sample().states.at("a/kernel");
  graph::Array transposed = good, truncated = good, integers = good;
  transposed.shape = {4, 3};
  truncated.data.resize(5);
  integers.dtype = graph::DType::I32;
  for (const auto& [array, described] : {std::pair{transposed, "f32[4,3] of 48 bytes"},
                                         {truncated, "f32[3,4] of 5 bytes"},
                                         {integers, "i32[3,4] of 48 bytes"}}) {
    SavedModel saved = sample();
    saved.states["a/kernel"] = array;
    const std::string expected = concat("the state \"a/kernel\" is f32[3,4], got ", described);
    const Status folded = save_model(folder.path, saved);
    const auto module = export_module(saved);
    const auto file = to_onnx(saved);
    ASSERT_FALSE(folded || module || file) << described;
    EXPECT_EQ(folded.error().message, expected);
    EXPECT_EQ(module.error().message, expected);
    EXPECT_EQ(file.error().message, expected);
  }
  SavedModel saved = sample();
  saved.states["optimizer/step"] = good;
  EXPECT_FALSE(save_model(folder.path, saved, {.includes_optimizer = true}));
  EXPECT_TRUE(save_model(folder.path, saved)) << "the optimizer stays out";
}

TEST(SavedModel, LoadsWeightsNextToIt) {
  const char* json =
      R"({"layers":[{"class":"Dense","config":{"name":"d","units":2,"inputShape":[1]}}]})";
  const auto without_weights = read({{"model.json", json}});
  ASSERT_TRUE(without_weights) << without_weights.error().message;
  EXPECT_EQ(without_weights->warnings.size(), 1u);
  nn::States states = without_weights->states;
  states["d/kernel"] = graph::Array::of({1, 2}, std::vector<float>{5, 6});
  const auto file = nn::write_weights(without_weights->model, states);
  const std::string text(reinterpret_cast<const char*>(file->data()), file->size());
  const auto loaded = read({{"model.json", json}, {"model.safetensors", text}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_EQ(loaded->states.at("d/kernel")[1].f, 6);
  EXPECT_EQ(message(read({{"model.json", json}, {"model.safetensors", "x"}})),
            "model.safetensors: safetensors: the file has less than 8 bytes");
}

TEST(SavedModel, ErrorsNameTheFileAndThePosition) {
  const Files good = saved_files(sample());
  const auto with = [&](std::string_view from, std::string_view to) {
    Files files = good;
    std::string& json = files["model.json"];
    const size_t at = json.find(from);
    EXPECT_NE(at, json.npos) << from;
    json.replace(at, from.size(), to);
    return message(read(files));
  };
  EXPECT_TRUE(message(read({{"model.json", "[1,"}}))
                  .starts_with("model.json: the text is not JSON: byte 3"));
  EXPECT_EQ(message(read({{"model.json", "[]"}})), "model.json: it must be an object");
  EXPECT_EQ(message(read({{"model.json", "{}"}})), "model.json: it has no modelTopology");
  EXPECT_EQ(message(read({{"model.json", R"({"format":"graph-model"})"}})),
            "model.json: it is a graph model; only layers models can be loaded");
  EXPECT_TRUE(with("\"group1-shard1", "\"../group1-shard1")
                  .ends_with("is no path in its folder; rename the file"));
  EXPECT_EQ(with("\"class_name\":\"Dense\"", "\"class_name\":\"Dance\""),
            "model.json: layer \"a\" (Dance) is of an unknown class");
  EXPECT_TRUE(with("\"units\":4", "\"units\":5")
                  .starts_with("model.json: model \"sample\": layer \"as_steps\" (Reshape): "));
  EXPECT_EQ(with("\"shape\":[3,4]", "\"shape\":[4,3]"),
            "model.json: the tensor a/kernel has shape [4,3], but the model expects [3,4]");
  EXPECT_EQ(with("a/kernel", "c/kernel"),
            "model.json: the model needs a/kernel, which is not there; unused: c/kernel");
  const std::string beyond_end = with("\"shape\":[3,4]", "\"shape\":[3,4000]");
  EXPECT_TRUE(beyond_end.ends_with("within the tensor a/kernel, which ends at byte 48000"))
      << beyond_end;
  Files missing = good;
  missing.erase(missing.begin());
  EXPECT_EQ(message(read(missing)), good.begin()->first + ": No such file or directory");
}

// A corrupted copy: bytes changed, removed, duplicated, truncated, numbers and words exchanged.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view kWords[] = {
      "0",   "-1", "1e308", "4294967296", "null",
      "[]",  "{}", "\"x\"", "[[[]]]",     "{\"class_name\":\"Dense\",\"config\":{}}",
      "true"};
  const auto below = [&random](size_t end) { return static_cast<size_t>(random() % end); };
  for (size_t times = 1 + below(3); times > 0 && !text.empty(); --times) {
    const size_t at = below(text.size()), count = std::min(1 + below(16), text.size() - at);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, count);
        break;
      case 2:
        text.insert(at, text.substr(at, count));
        break;
      case 3:
        text.resize(below(8) == 0 ? at : text.size());
        break;
      default: {
        // The value after a colon becomes another one.
        const size_t colon = text.find(':', at);
        const size_t end = colon == text.npos ? colon : text.find_first_of(",}]", colon);
        if (end == text.npos) break;
        text.replace(colon + 1, end - colon - 1, kWords[below(std::size(kWords))]);
      }
    }
  }
  return text;
}

TEST(SavedModel, DamagedFilesAreErrors) {
  const char* const longer = std::getenv("LATHE_DRAWS");
  const int draws = longer == nullptr ? 400 : std::atoi(longer);
  std::mt19937 random(11);
  const std::vector<Files> corpus = {
      saved_files(sample(), {.includes_optimizer = true}),
      saved_files(sample("rmsprop"), {.bits = formats::Bits::UInt8}),
      {{"model.json",
        R"({"modelTopology":{"class_name":"Model","config":{"name":"m","layers":[{"class_name":"InputLayer","config":{"batch_input_shape":[null,null,4],"name":"x"},"name":"x","inbound_nodes":[]},{"class_name":"Dense","config":{"units":3,"name":"d","kernel_initializer":{"class_name":"GlorotUniform","config":{"seed":null}}},"name":"d","inbound_nodes":[[["x",0,0,{}]]]}],"input_layers":[["x",0,0]],"output_layers":[["d",0,0]]}},"weightsManifest":[{"paths":["w"],"weights":[{"name":"d/kernel","shape":[4,3],"dtype":"float32"},{"name":"d/bias","shape":[3],"dtype":"float32"}]}]})"},
       {"w", std::string(60, '\1')}}};
  ASSERT_TRUE(read(corpus[2], {.sizes = {5}})) << message(read(corpus[2], {.sizes = {5}}));
  int good = 0, bad = 0;
  for (int draw = 0; draw < draws; ++draw) {
    Files files = corpus[static_cast<size_t>(draw) % corpus.size()];
    const bool of_json = random() % 8 != 0;
    std::string& file = of_json ? files["model.json"] : files.rbegin()->second;
    file = mutated(file, random);
    const auto result =
        read(files, {.sizes = files.size() == 2 && files.contains("w") ? std::vector<int64_t>{5}
                                                                       : std::vector<int64_t>{}});
    (result ? good : bad) += 1;
    EXPECT_FALSE(!result && result.error().message.empty());
  }
  EXPECT_GT(bad, draws / 2);
  EXPECT_GT(good, 0);
}

}  // namespace
}  // namespace lathe::models
