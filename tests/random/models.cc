#include "models.h"

#include <algorithm>

#include "lathe/base/check.h"
#include "model_generator.h"

namespace lathe::random_tests {

namespace {

using nn::ModelValue;

constexpr auto kGroups = {plain_layers, spatial_layers, sequence_layers};
// Layers that only come first.
constexpr std::array<std::string_view, 3> kFirst = {"Embedding", "Masking", "CategoryEncoding"};

// A loss and an activation before it with finite results.
struct LossRecipe {
  const char *loss, *activation;
};
constexpr std::array<LossRecipe, 17> kLosses = {{
    {"meanSquaredError", "linear"},
    {"meanAbsoluteError", "linear"},
    {"meanAbsolutePercentageError", "tanh"},
    {"meanSquaredLogarithmicError", "sigmoid"},
    {"huber", "linear"},
    {"logcosh", "linear"},
    {"hinge", "tanh"},
    {"squaredHinge", "linear"},
    {"categoricalHinge", "linear"},
    {"poisson", "softplus"},
    {"kullbackLeiblerDivergence", "softmax"},
    {"cosineProximity", "linear"},
    {"binaryCrossentropy", "sigmoid"},
    {"categoricalCrossentropy", "softmax"},
    {"sparseCategoricalCrossentropy", "softmax"},
    {"sigmoidCrossEntropy", "sigmoid"},
    {"softmaxCrossEntropy", "linear"},
}};

void start(ModelGenerator& g) {
  const int64_t kind = g.rng.below(14);
  if (kind == 0 || kind == 1) {
    g.indices = g.rng.size(20, false) + 1;
    g.values.push_back(g.model.input({g.rng.size(9, false)}, "x"));
    if (kind == 0) {
      nn::EmbeddingOptions options{.input_dim = g.indices, .output_dim = g.rng.size(17, false)};
      options.mask_zero = g.rng.chance(50);
      g.add(nn::embedding(options));
    } else {
      static constexpr std::array kModes = {"multiHot", "count"};
      g.add(nn::category_encoding({.num_tokens = g.indices, .output_mode = g.rng.of(kModes)}));
    }
    return;
  }
  static constexpr std::array<int, 12> kRanks = {1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4};
  const int rank = g.rng.of(kRanks);
  Shape shape = g.rng.shape(rank, 300, false);
  if (rank == 2) shape[0] = std::min<int64_t>(shape[0], 9);
  g.values.push_back(g.model.input(std::move(shape), "x"));
  if (rank == 2 && g.rng.chance(15)) {
    g.masks = true;
    g.add(nn::masking({}));
  }
}

void draw_options(ModelGenerator& g, RandomModel& result, const LossRecipe& loss) {
  nn::TrainingOptions& options = result.options;
  options.loss = nn::Choice(loss.loss);
  options.batch = {g.rng.chance(70) ? g.rng.from(1, 6) : g.rng.size(17, false), g.rng.from(1, 5),
                   g.rng.size(9, false)};
  if (std::string_view(loss.loss) == "sparseCategoricalCrossentropy") {
    options.labels = nn::Labels::Sparse;
    result.classes = g.shape().back();
  }
  result.has_slopes = g.rng.chance(65);
  options.optimizer = {"sgd", {{"learningRate", 1.0}}};
  if (!result.has_slopes) {
    const auto rows = nn::optimizers();
    const nn::Row& row = rows[static_cast<size_t>(g.rng.below(static_cast<int64_t>(rows.size())))];
    options.optimizer = nn::Choice(std::string(row.name));
    if (g.rng.chance(20)) options.optimizer.parameters.emplace_back("clipNorm", 0.5);
  }
  if (g.rng.chance(30))
    options.metrics = {{nn::Choice("meanSquaredError"), nn::Choice("accuracy")}};
  options.row_weights = g.rng.chance(20);
}

}  // namespace

bool ModelGenerator::add(const nn::LayerPtr& layer, const std::vector<ModelValue>& inputs) {
  nn::Model longer = model;
  const ModelValue result = longer.call(layer, inputs);
  longer.output(result);
  if (!longer.status() || graph::element_count(longer.shape(result)) > kMaxExampleElements)
    return false;
  model.call(layer, inputs);
  values.push_back(result);
  return true;
}

ModelValue ModelGenerator::earlier(const Shape& expected) {
  std::vector<ModelValue> found;
  for (const ModelValue value : values) {
    if (value != values.back() && model.shape(value) == expected) found.push_back(value);
  }
  return found.empty() ? values.back() : rng.of(found);
}

const char* ModelGenerator::activation() {
  static constexpr std::array kNames = {"linear",      "linear",  "relu",      "tanh", "sigmoid",
                                        "hardSigmoid", "relu6",   "elu",       "selu", "softplus",
                                        "mish",        "swish",   "softsign",  "gelu", "gelu_new",
                                        "leakyRelu",   "softmax", "logSoftmax"};
  return rng.of(kNames);
}

nn::Choice ModelGenerator::regularizer() {
  static constexpr std::array kNames = {"l1", "l2", "l1l2"};
  return rng.chance(15) ? nn::Choice(rng.of(kNames)) : nn::Choice();
}

RandomModel random_model(uint64_t seed, int steps) {
  ModelGenerator g(seed);
  start(g);
  RandomModel result;
  const auto all = static_cast<int>(g.rng.from(1, 5));
  for (int i = 0; i < all && (steps < 0 || i < steps); ++i) {
    std::vector<LayerRecipe> fitting;
    // Those of this rank count more than those of any.
    for (const auto& group : kGroups) {
      for (const LayerRecipe& recipe : group()) {
        if (g.rank() < recipe.min_rank || g.rank() > recipe.max_rank) continue;
        const bool is_plain = recipe.max_rank - recipe.min_rank > 1;
        fitting.insert(fitting.end(), is_plain ? 1 : 3, recipe);
      }
    }
    if (fitting.empty()) break;  // reshaped into more axes than any layer supports
    const LayerRecipe& recipe = g.rng.of(fitting);
    if (recipe.generate(g)) result.layers.emplace_back(recipe.name);
  }
  const LossRecipe& loss = g.rng.of(kLosses);
  if (g.rng.chance(40)) {
    g.add(nn::dense({.units = g.rng.size(9, false), .activation = loss.activation}));
  } else {
    g.add(nn::activation({loss.activation}));
  }
  g.model.output(g.values.back(), "y");
  draw_options(g, result, loss);
  result.model = std::move(g.model);
  result.indices = g.indices;
  result.masks = g.masks;
  return result;
}

std::vector<std::string> rows_without_recipe() {
  std::vector<std::string> missing;
  for (const std::string_view name : nn::layer_classes()) {
    const bool is_covered =
        std::ranges::count(kFirst, name) > 0 || std::ranges::any_of(kGroups, [&](auto group) {
          return std::ranges::any_of(group(),
                                     [&](const LayerRecipe& each) { return each.name == name; });
        });
    if (!is_covered) missing.emplace_back(name);
  }
  for (const nn::Row& row : nn::losses()) {
    const auto is_row = [&](const LossRecipe& each) { return row.name == each.loss; };
    if (std::ranges::none_of(kLosses, is_row)) missing.emplace_back(row.name);
  }
  return missing;
}

}  // namespace lathe::random_tests
