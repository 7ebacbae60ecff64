// Recipes of layers that accept examples of any shape, or several inputs.
#include <algorithm>

#include "model_generator.h"

namespace lathe::random_tests {

namespace {

using nn::LayerPtr;

bool dense(ModelGenerator& g) {
  nn::DenseOptions options{.units = g.rng.size(40, false), .activation = g.activation()};
  options.use_bias = g.rng.chance(80);
  options.kernel.regularizer = g.regularizer();
  options.activity_regularizer = g.regularizer();
  return g.add(nn::dense(options));
}

// The last result and another one of its shape, or of a layer that makes such a one.
template <LayerPtr (*layer)(nn::MergeOptions)>
bool merge(ModelGenerator& g) {
  const nn::ModelValue first = g.values.back();
  nn::ModelValue second = g.earlier(g.shape());
  if (second == first) {
    if (!g.add(nn::dense({.units = g.shape().back(), .activation = "tanh"}))) return false;
    second = g.values.back();
  }
  return g.add(layer({}), {first, second});
}

bool concatenate(ModelGenerator& g) {
  const nn::ModelValue first = g.values.back();
  if (!g.add(nn::dense({.units = g.rng.size(9, false)}))) return false;
  return g.add(nn::concatenate({}), {first, g.values.back()});
}

bool dot(ModelGenerator& g) {
  const nn::ModelValue first = g.values.back();
  if (!g.add(nn::dense({.units = g.shape().back()}))) return false;
  nn::DotOptions options{.axes = g.rank() == 2 && g.rng.chance(50) ? 1 : -1};
  options.normalize = g.rng.chance(40);
  return g.add(nn::dot(options), {first, g.values.back()});
}

bool reshape(ModelGenerator& g) {
  // Two axes as one, or one as two.
  std::vector<int64_t> target = g.shape();
  if (target.size() > 1 && g.rng.chance(60)) {
    const auto at = static_cast<size_t>(g.rng.below(static_cast<int64_t>(target.size()) - 1));
    target[at] *= target[at + 1];
    target.erase(target.begin() + static_cast<ptrdiff_t>(at) + 1);
  } else {
    const int64_t last = target.back(), factor = last % 2 == 0 ? 2 : last % 3 == 0 ? 3 : 1;
    target.back() /= factor;
    target.push_back(factor);
  }
  nn::ReshapeOptions options;
  options.target_shape.values = target;
  return g.add(nn::reshape(options));
}

bool permute(ModelGenerator& g) {
  nn::PermuteOptions options;
  for (const int axis : g.rng.permutation(static_cast<int>(g.rank()))) {
    options.dims.values.push_back(axis + 1);
  }
  return g.add(nn::permute(options));
}

bool layer_normalization(ModelGenerator& g) {
  nn::LayerNormalizationOptions options;
  if (g.rank() > 1 && g.rng.chance(50)) {
    options.axis.values.clear();
    for (const int axis : g.rng.axes(static_cast<int>(g.rank()))) {
      options.axis.values.push_back(axis + 1);
    }
  }
  options.center = g.rng.chance(80);
  options.scale = g.rng.chance(80);
  return g.add(nn::layer_normalization(options));
}

bool batch_normalization(ModelGenerator& g) {
  nn::BatchNormalizationOptions options;
  options.axis =
      g.rng.chance(70) ? -1 : static_cast<int32_t>(g.rng.from(1, static_cast<int64_t>(g.rank())));
  return g.add(nn::batch_normalization(options));
}

bool prelu(ModelGenerator& g) {
  nn::PReLUOptions options;
  if (g.rng.chance(40)) options.shared_axes = 1;
  return g.add(nn::prelu(options));
}

bool softmax(ModelGenerator& g) {
  nn::SoftmaxOptions options;
  if (g.rng.chance(50))
    options.axis = static_cast<int32_t>(g.rng.from(1, static_cast<int64_t>(g.rank())));
  return g.add(nn::softmax(options));
}

constexpr LayerRecipe kPlainLayers[] = {
    {"Dense", 1, 4, dense},
    {"Activation", 1, 4, [](ModelGenerator& g) { return g.add(nn::activation({g.activation()})); }},
    {"Add", 1, 4, merge<nn::add>},
    {"Subtract", 1, 4, merge<nn::subtract>},
    {"Multiply", 1, 4, merge<nn::multiply>},
    {"Average", 1, 4, merge<nn::average>},
    {"Maximum", 1, 4, merge<nn::maximum>},
    {"Minimum", 1, 4, merge<nn::minimum>},
    {"Concatenate", 1, 4, concatenate},
    {"Dot", 1, 2, dot},
    {"Flatten", 2, 4, [](ModelGenerator& g) { return g.add(nn::flatten({})); }},
    {"Reshape", 1, 4, reshape},
    {"Permute", 2, 4, permute},
    {"RepeatVector", 1, 1,
     [](ModelGenerator& g) { return g.add(nn::repeat_vector({.n = g.rng.from(1, 5)})); }},
    {"BatchNormalization", 1, 4, batch_normalization},
    {"LayerNormalization", 1, 4, layer_normalization},
    {"ReLU", 1, 4,
     [](ModelGenerator& g) {
       nn::ReLUOptions options{.max_value = g.rng.chance(50) ? 0.7 : 0};
       if (g.rng.chance(50)) options.negative_slope = 0.2;
       if (g.rng.chance(50)) options.threshold = 0.1;
       return g.add(nn::relu(options));
     }},
    {"LeakyReLU", 1, 4, [](ModelGenerator& g) { return g.add(nn::leaky_relu({})); }},
    {"PReLU", 1, 4, prelu},
    {"ELU", 1, 4, [](ModelGenerator& g) { return g.add(nn::elu({.alpha = 0.8})); }},
    {"ThresholdedReLU", 1, 4,
     [](ModelGenerator& g) { return g.add(nn::thresholded_relu({.theta = 0.2})); }},
    {"Softmax", 1, 4, softmax},
    {"Rescaling", 1, 4,
     [](ModelGenerator& g) { return g.add(nn::rescaling({.scale = 0.5, .offset = 0.1})); }},
    {"Dropout", 1, 4, [](ModelGenerator& g) { return g.add(nn::dropout({.rate = 0.4})); }},
    {"GaussianNoise", 1, 4,
     [](ModelGenerator& g) { return g.add(nn::gaussian_noise({.stddev = 0.2})); }},
    {"GaussianDropout", 1, 4,
     [](ModelGenerator& g) { return g.add(nn::gaussian_dropout({.rate = 0.3})); }},
    {"AlphaDropout", 1, 4,
     [](ModelGenerator& g) { return g.add(nn::alpha_dropout({.rate = 0.3})); }},
};

}  // namespace

std::span<const LayerRecipe> plain_layers() { return kPlainLayers; }

}  // namespace lathe::random_tests
