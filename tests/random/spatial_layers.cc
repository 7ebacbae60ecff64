// Recipes of layers over [spatial…, channels]: convolutions, pools, pads, other sizes.
#include <algorithm>

#include "model_generator.h"

namespace lathe::random_tests {

namespace {

using nn::LayerPtr;
using nn::Sizes;

Sizes sizes(ModelGenerator& g, size_t axes, int64_t max) {
  Sizes result;
  if (g.rng.chance(50)) return g.rng.from(1, max);
  for (size_t i = 0; i < axes; ++i) result.values.push_back(g.rng.from(1, max));
  return result;
}

const char* padding(ModelGenerator& g) { return g.rng.chance(60) ? "same" : "valid"; }

template <class Options>
void draw_window(ModelGenerator& g, size_t axes, Options& options) {
  options.kernel_size = g.rng.chance(40) ? Sizes(3) : sizes(g, axes, 5);
  options.padding = padding(g);
  const int64_t kind = g.rng.below(4);
  if (kind == 0) options.strides = sizes(g, axes, 3);
  if (kind == 1) options.dilation_rate = sizes(g, axes, 3);
  options.activation = g.activation();
  options.use_bias = g.rng.chance(80);
}

template <LayerPtr (*layer)(nn::ConvOptions), size_t axes>
bool conv(ModelGenerator& g) {
  nn::ConvOptions options{.filters = g.rng.size(g.rng.chance(75) ? 9 : 33, false)};
  draw_window(g, axes, options);
  if (axes == 1 && g.rng.chance(25)) options.padding = "causal";
  return g.add(layer(options));
}

template <LayerPtr (*layer)(nn::ConvOptions), size_t axes>
bool transposed(ModelGenerator& g) {
  nn::ConvOptions options{.filters = g.rng.size(9, false)};
  draw_window(g, axes, options);
  options.dilation_rate = 1;
  return g.add(layer(options));
}

bool depthwise(ModelGenerator& g) {
  nn::DepthwiseConv2DOptions options;
  draw_window(g, 2, options);
  if (g.rng.chance(40)) options.depth_multiplier = g.rng.from(2, 4);
  return g.add(nn::depthwise_conv2d(options));
}

bool separable(ModelGenerator& g) {
  nn::SeparableConv2DOptions options{.filters = g.rng.size(9, false)};
  draw_window(g, 2, options);
  if (g.rng.chance(40)) options.depth_multiplier = g.rng.from(2, 3);
  return g.add(nn::separable_conv2d(options));
}

template <LayerPtr (*layer)(nn::PoolingOptions), size_t axes>
bool pool(ModelGenerator& g) {
  nn::PoolingOptions options{.pool_size = sizes(g, axes, 3)};
  if (g.rng.chance(50)) options.strides = sizes(g, axes, 3);
  options.padding = padding(g);
  return g.add(layer(options));
}

template <LayerPtr (*layer)(nn::GlobalPoolingOptions)>
bool global_pool(ModelGenerator& g) {
  return g.add(layer({}));
}

Sizes sides(ModelGenerator& g, int64_t max) {
  Sizes result;
  for (int i = 0; i < 4; ++i) result.values.push_back(g.rng.below(max + 1));
  return result;
}

const char* interpolation(ModelGenerator& g) { return g.rng.chance(50) ? "nearest" : "bilinear"; }

constexpr LayerRecipe kSpatialLayers[] = {
    {"Conv1D", 2, 2, conv<nn::conv1d, 1>},
    {"Conv2D", 3, 3, conv<nn::conv2d, 2>},
    {"Conv3D", 4, 4, conv<nn::conv3d, 3>},
    {"Conv2DTranspose", 3, 3, transposed<nn::conv2d_transpose, 2>},
    {"Conv3DTranspose", 4, 4, transposed<nn::conv3d_transpose, 3>},
    {"DepthwiseConv2D", 3, 3, depthwise},
    {"SeparableConv2D", 3, 3, separable},
    {"MaxPooling1D", 2, 2, pool<nn::max_pooling1d, 1>},
    {"MaxPooling2D", 3, 3, pool<nn::max_pooling2d, 2>},
    {"MaxPooling3D", 4, 4, pool<nn::max_pooling3d, 3>},
    {"AveragePooling1D", 2, 2, pool<nn::average_pooling1d, 1>},
    {"AveragePooling2D", 3, 3, pool<nn::average_pooling2d, 2>},
    {"AveragePooling3D", 4, 4, pool<nn::average_pooling3d, 3>},
    {"GlobalMaxPooling1D", 2, 2, global_pool<nn::global_max_pooling1d>},
    {"GlobalMaxPooling2D", 3, 3, global_pool<nn::global_max_pooling2d>},
    {"GlobalAveragePooling1D", 2, 2, global_pool<nn::global_average_pooling1d>},
    {"GlobalAveragePooling2D", 3, 3, global_pool<nn::global_average_pooling2d>},
    {"ZeroPadding2D", 3, 3,
     [](ModelGenerator& g) { return g.add(nn::zero_padding2d({.padding = sides(g, 2)})); }},
    {"Cropping2D", 3, 3,
     [](ModelGenerator& g) { return g.add(nn::cropping2d({.cropping = sides(g, 1)})); }},
    {"UpSampling2D", 3, 3,
     [](ModelGenerator& g) {
       nn::UpSampling2DOptions options{.size = sizes(g, 2, 3)};
       options.interpolation = interpolation(g);
       return g.add(nn::up_sampling2d(options));
     }},
    {"Resizing", 3, 3,
     [](ModelGenerator& g) {
       nn::ResizingOptions options{.height = g.rng.from(1, 9), .width = g.rng.from(1, 9)};
       options.interpolation = interpolation(g);
       return g.add(nn::resizing(options));
     }},
    {"CenterCrop", 3, 3,
     [](ModelGenerator& g) {
       return g.add(nn::center_crop({.height = g.rng.from(1, 6), .width = g.rng.from(1, 6)}));
     }},
};

}  // namespace

std::span<const LayerRecipe> spatial_layers() { return kSpatialLayers; }

}  // namespace lathe::random_tests
