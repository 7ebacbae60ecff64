// The convolutional layers over [spatial…, channels]: activation(convolution of x and kernel +
// bias), with one to three spatial axes, depthwise, separable and transposed.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct ConvOptions {
  int64_t filters = 0;
  Sizes kernel_size = {};
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channelsLast";
  Sizes dilation_rate = 1;
  Choice activation = "linear";
  bool use_bias = true;
  WeightOptions kernel = "glorotNormal", bias = "zeros";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("filters", filters);
    field("kernelSize", kernel_size);
    field("strides", strides);
    field("padding", padding);
    field("dataFormat", data_format);
    field("dilationRate", dilation_rate);
    field("activation", activation);
    field("useBias", use_bias);
    field("kernel", kernel);
    field("bias", bias);
  }
};
using Conv1DOptions = ConvOptions;
using Conv2DOptions = ConvOptions;
using Conv3DOptions = ConvOptions;
using Conv2DTransposeOptions = ConvOptions;
using Conv3DTransposeOptions = ConvOptions;

// [batch, spatial…, c] -> [batch, spatial'…, filters]; weights kernel [window…, c, filters], bias.
// Over one axis padding may be "causal": each output sees its step and those before.
LayerPtr conv1d(ConvOptions options);
LayerPtr conv2d(ConvOptions options);
LayerPtr conv3d(ConvOptions options);

// The gradient of a convolution by its input: padding "same" makes spatial axes `stride` times as
// long, "valid" adds what the window reaches beyond. Weights kernel [window…, filters, c], bias.
LayerPtr conv2d_transpose(ConvOptions options);
LayerPtr conv3d_transpose(ConvOptions options);

struct DepthwiseConv2DOptions {
  Sizes kernel_size = {};
  int64_t depth_multiplier = 1;
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channelsLast";
  Sizes dilation_rate = 1;
  Choice activation = "linear";
  bool use_bias = true;
  WeightOptions depthwise = "glorotNormal", bias = "zeros";
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("kernelSize", kernel_size);
    field("depthMultiplier", depth_multiplier);
    field("strides", strides);
    field("padding", padding);
    field("dataFormat", data_format);
    field("dilationRate", dilation_rate);
    field("activation", activation);
    field("useBias", use_bias);
    field("depthwise", depthwise);
    field("bias", bias);
  }
};

// [batch, h, w, c] -> [batch, h', w', c * multiplier]; weights depthwise_kernel [kh, kw, c,
// multiplier], bias.
LayerPtr depthwise_conv2d(DepthwiseConv2DOptions options);

struct SeparableConv2DOptions {
  int64_t filters = 0;
  Sizes kernel_size = {};
  int64_t depth_multiplier = 1;
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channelsLast";
  Sizes dilation_rate = 1;
  Choice activation = "linear";
  bool use_bias = true;
  WeightOptions depthwise = "glorotUniform", pointwise = "glorotUniform", bias = "zeros";
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("filters", filters);
    field("kernelSize", kernel_size);
    field("depthMultiplier", depth_multiplier);
    field("strides", strides);
    field("padding", padding);
    field("dataFormat", data_format);
    field("dilationRate", dilation_rate);
    field("activation", activation);
    field("useBias", use_bias);
    field("depthwise", depthwise);
    field("pointwise", pointwise);
    field("bias", bias);
  }
};

// A depthwise convolution, then one by a 1×1 window: weights depthwise_kernel [kh, kw, c,
// multiplier], pointwise_kernel [1, 1, c * multiplier, filters], bias.
LayerPtr separable_conv2d(SeparableConv2DOptions options);

}  // namespace lathe::nn
