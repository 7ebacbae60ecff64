// Generates one model: each recipe adds a layer if the layer accepts the last result.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lathe/nn/layers/layers.h"
#include "lathe/nn/model.h"
#include "rng.h"

namespace lathe::random_tests {

// Of one example.
inline constexpr int64_t kMaxExampleElements = 1200;

struct ModelGenerator {
  explicit ModelGenerator(uint64_t seed) : rng(seed), model("model", seed) {}

  Rng rng;
  nn::Model model;
  std::vector<nn::ModelValue> values;  // results that have a further use, the last one at the end
  int64_t indices = 0;                 // the input has integers below this
  bool masks = false;                  // the input has steps of zeros

  const Shape& shape() const { return model.shape(values.back()); }
  size_t rank() const { return shape().size(); }
  // Calls the layer on the last result; false if the layer rejects it or returns too many elements.
  bool add(const nn::LayerPtr& layer) { return add(layer, {values.back()}); }
  bool add(const nn::LayerPtr& layer, const std::vector<nn::ModelValue>& inputs);
  // One of the earlier results of this shape; the last one where there is none.
  nn::ModelValue earlier(const Shape& shape);
  const char* activation();
  nn::Choice regularizer();  // mostly none
};

struct LayerRecipe {
  std::string_view name;  // the class
  size_t min_rank, max_rank;
  bool (*generate)(ModelGenerator& generator);
};

std::span<const LayerRecipe> plain_layers();
std::span<const LayerRecipe> spatial_layers();
std::span<const LayerRecipe> sequence_layers();

}  // namespace lathe::random_tests
