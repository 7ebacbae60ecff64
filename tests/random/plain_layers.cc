// Recipes of layers that take examples of any shape, or several inputs.
#include <algorithm>

#include "model_growth.h"

namespace lathe::random_tests {

namespace {

using nn::LayerPtr;

bool dense(ModelGrowth& g) {
  nn::DenseOptions options{.units = g.draw.size(40, false), .activation = g.activation()};
  options.use_bias = g.draw.chance(80);
  options.kernel.regularizer = g.regularizer();
  options.activity_regularizer = g.regularizer();
  return g.add(nn::dense(options));
}

// The last result and another one of its shape, or of a layer that makes such a one.
template <LayerPtr (*layer)(nn::MergeOptions)>
bool merge(ModelGrowth& g) {
  const nn::ModelValue first = g.values.back();
  nn::ModelValue second = g.earlier(g.shape());
  if (second == first) {
    if (!g.add(nn::dense({.units = g.shape().back(), .activation = "tanh"}))) return false;
    second = g.values.back();
  }
  return g.add(layer({}), {first, second});
}

bool concatenate(ModelGrowth& g) {
  const nn::ModelValue first = g.values.back();
  if (!g.add(nn::dense({.units = g.draw.size(9, false)}))) return false;
  return g.add(nn::concatenate({}), {first, g.values.back()});
}

bool dot(ModelGrowth& g) {
  const nn::ModelValue first = g.values.back();
  if (!g.add(nn::dense({.units = g.shape().back()}))) return false;
  nn::DotOptions options{.axes = g.rank() == 2 && g.draw.chance(50) ? 1 : -1};
  options.normalize = g.draw.chance(40);
  return g.add(nn::dot(options), {first, g.values.back()});
}

bool reshape(ModelGrowth& g) {
  // Two axes as one, or one as two.
  std::vector<int64_t> target = g.shape();
  if (target.size() > 1 && g.draw.chance(60)) {
    const auto at = static_cast<size_t>(g.draw.below(static_cast<int64_t>(target.size()) - 1));
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

bool permute(ModelGrowth& g) {
  nn::PermuteOptions options;
  for (const int axis : g.draw.permutation(static_cast<int>(g.rank()))) {
    options.dims.values.push_back(axis + 1);
  }
  return g.add(nn::permute(options));
}

bool layer_normalization(ModelGrowth& g) {
  nn::LayerNormalizationOptions options;
  if (g.rank() > 1 && g.draw.chance(50)) {
    options.axis.values.clear();
    for (const int axis : g.draw.axes(static_cast<int>(g.rank()))) {
      options.axis.values.push_back(axis + 1);
    }
  }
  options.center = g.draw.chance(80);
  options.scale = g.draw.chance(80);
  return g.add(nn::layer_normalization(options));
}

bool batch_normalization(ModelGrowth& g) {
  nn::BatchNormalizationOptions options;
  options.axis =
      g.draw.chance(70) ? -1 : static_cast<int32_t>(g.draw.from(1, static_cast<int64_t>(g.rank())));
  return g.add(nn::batch_normalization(options));
}

bool prelu(ModelGrowth& g) {
  nn::PReLUOptions options;
  if (g.draw.chance(40)) options.shared_axes = 1;
  return g.add(nn::prelu(options));
}

bool softmax(ModelGrowth& g) {
  nn::SoftmaxOptions options;
  if (g.draw.chance(50))
    options.axis = static_cast<int32_t>(g.draw.from(1, static_cast<int64_t>(g.rank())));
  return g.add(nn::softmax(options));
}

constexpr LayerRecipe kPlainLayers[] = {
    {"Dense", 1, 4, dense},
    {"Activation", 1, 4, [](ModelGrowth& g) { return g.add(nn::activation({g.activation()})); }},
    {"Add", 1, 4, merge<nn::add>},
    {"Subtract", 1, 4, merge<nn::subtract>},
    {"Multiply", 1, 4, merge<nn::multiply>},
    {"Average", 1, 4, merge<nn::average>},
    {"Maximum", 1, 4, merge<nn::maximum>},
    {"Minimum", 1, 4, merge<nn::minimum>},
    {"Concatenate", 1, 4, concatenate},
    {"Dot", 1, 2, dot},
    {"Flatten", 2, 4, [](ModelGrowth& g) { return g.add(nn::flatten({})); }},
    {"Reshape", 1, 4, reshape},
    {"Permute", 2, 4, permute},
    {"RepeatVector", 1, 1,
     [](ModelGrowth& g) { return g.add(nn::repeat_vector({.n = g.draw.from(1, 5)})); }},
    {"BatchNormalization", 1, 4, batch_normalization},
    {"LayerNormalization", 1, 4, layer_normalization},
    {"ReLU", 1, 4,
     [](ModelGrowth& g) {
       nn::ReLUOptions options{.max_value = g.draw.chance(50) ? 0.7 : 0};
       if (g.draw.chance(50)) options.negative_slope = 0.2;
       if (g.draw.chance(50)) options.threshold = 0.1;
       return g.add(nn::relu(options));
     }},
    {"LeakyReLU", 1, 4, [](ModelGrowth& g) { return g.add(nn::leaky_relu({})); }},
    {"PReLU", 1, 4, prelu},
    {"ELU", 1, 4, [](ModelGrowth& g) { return g.add(nn::elu({.alpha = 0.8})); }},
    {"ThresholdedReLU", 1, 4,
     [](ModelGrowth& g) { return g.add(nn::thresholded_relu({.theta = 0.2})); }},
    {"Softmax", 1, 4, softmax},
    {"Rescaling", 1, 4,
     [](ModelGrowth& g) { return g.add(nn::rescaling({.scale = 0.5, .offset = 0.1})); }},
    {"Dropout", 1, 4, [](ModelGrowth& g) { return g.add(nn::dropout({.rate = 0.4})); }},
    {"GaussianNoise", 1, 4,
     [](ModelGrowth& g) { return g.add(nn::gaussian_noise({.stddev = 0.2})); }},
    {"GaussianDropout", 1, 4,
     [](ModelGrowth& g) { return g.add(nn::gaussian_dropout({.rate = 0.3})); }},
    {"AlphaDropout", 1, 4, [](ModelGrowth& g) { return g.add(nn::alpha_dropout({.rate = 0.3})); }},
};

}  // namespace

std::span<const LayerRecipe> plain_layers() { return kPlainLayers; }

}  // namespace lathe::random_tests
