// The layers Conv2D and DepthwiseConv2D: activation(convolution of x and kernel + bias) over
// pictures [height, width, channels].
#pragma once

#include "nn/spatial.h"

namespace lathe::nn {

struct Conv2DOptions {
  int64_t filters = 0;
  Sizes kernel_size = {};
  Sizes strides = 1;
  std::string padding = "valid";
  Sizes dilation_rate = 1;
  Choice activation = "linear";
  bool use_bias = true;
  Choice kernel_initializer = "glorotNormal";
  Choice bias_initializer = "zeros";
  LAYER_OPTIONS;

  // field("jsonKey", member) for every own member.
  template <class Field>
  void fields(Field&& field) {
    field("filters", filters);
    field("kernelSize", kernel_size);
    field("strides", strides);
    field("padding", padding);
    field("dilationRate", dilation_rate);
    field("activation", activation);
    field("useBias", use_bias);
    field("kernelInitializer", kernel_initializer);
    field("biasInitializer", bias_initializer);
  }
};

// [batch, h, w, c] -> [batch, h', w', filters]; weights kernel [kh, kw, c, filters], bias.
LayerPtr conv2d(Conv2DOptions options);

struct DepthwiseConv2DOptions {
  Sizes kernel_size = {};
  int64_t depth_multiplier = 1;
  Sizes strides = 1;
  std::string padding = "valid";
  Sizes dilation_rate = 1;
  Choice activation = "linear";
  bool use_bias = true;
  Choice depthwise_initializer = "glorotNormal";
  Choice bias_initializer = "zeros";
  LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("kernelSize", kernel_size);
    field("depthMultiplier", depth_multiplier);
    field("strides", strides);
    field("padding", padding);
    field("dilationRate", dilation_rate);
    field("activation", activation);
    field("useBias", use_bias);
    field("depthwiseInitializer", depthwise_initializer);
    field("biasInitializer", bias_initializer);
  }
};

// [batch, h, w, c] -> [batch, h', w', c * multiplier]; weights depthwise_kernel [kh, kw, c,
// multiplier], bias.
LayerPtr depthwise_conv2d(DepthwiseConv2DOptions options);

}  // namespace lathe::nn
