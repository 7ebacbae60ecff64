// Grows one model: each recipe adds a layer, where it takes what the last one gives.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "draw.h"
#include "lathe/nn/layers.h"
#include "lathe/nn/model.h"

namespace lathe::random_tests {

// Of one example.
inline constexpr int64_t kMostOfExample = 1200;

struct ModelGrowth {
  explicit ModelGrowth(uint64_t seed) : draw(seed), model("model", seed) {}

  Draw draw;
  nn::Model model;
  std::vector<nn::ModelValue> values;  // results that have a further use, the last one at the end
  int64_t indices = 0;                 // the input holds numbers below this
  bool masks = false;                  // the input has steps of zeros

  const Shape& shape() const { return model.shape(values.back()); }
  size_t rank() const { return shape().size(); }
  // Calls the layer on the last result; false where it does not take it or gives too much.
  bool add(const nn::LayerPtr& layer) { return add(layer, {values.back()}); }
  bool add(const nn::LayerPtr& layer, const std::vector<nn::ModelValue>& inputs);
  // One of the earlier results of this shape; the last one where there is none.
  nn::ModelValue earlier(const Shape& shape);
  const char* activation();
  nn::Choice regularizer();  // mostly none
};

struct LayerRecipe {
  std::string_view name;  // the class
  size_t least_rank, most_rank;
  bool (*grow)(ModelGrowth& growth);
};

std::span<const LayerRecipe> plain_layers();
std::span<const LayerRecipe> spatial_layers();
std::span<const LayerRecipe> sequence_layers();

}  // namespace lathe::random_tests
