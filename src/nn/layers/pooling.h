// The layers that make [spatial…, channels] smaller by the maximum or mean of windows, or of
// everything, with one to three spatial axes.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct PoolingOptions {
  Sizes pool_size = 2;
  Sizes strides = {};  // empty: the pool size
  std::string padding = "valid";
  std::string data_format = "channelsLast";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("poolSize", pool_size);
    field("strides", strides);
    field("padding", padding);
    field("dataFormat", data_format);
  }
};
using MaxPooling1DOptions = PoolingOptions;
using MaxPooling2DOptions = PoolingOptions;
using MaxPooling3DOptions = PoolingOptions;
using AveragePooling1DOptions = PoolingOptions;
using AveragePooling2DOptions = PoolingOptions;
using AveragePooling3DOptions = PoolingOptions;

// [batch, spatial…, c] -> [batch, spatial'…, c]
LayerPtr max_pooling1d(PoolingOptions options);
LayerPtr max_pooling2d(PoolingOptions options);
LayerPtr max_pooling3d(PoolingOptions options);
LayerPtr average_pooling1d(PoolingOptions options);
LayerPtr average_pooling2d(PoolingOptions options);
LayerPtr average_pooling3d(PoolingOptions options);

struct GlobalPoolingOptions {
  std::string data_format = "channelsLast";
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("dataFormat", data_format);
  }
};
using GlobalMaxPooling1DOptions = GlobalPoolingOptions;
using GlobalMaxPooling2DOptions = GlobalPoolingOptions;
using GlobalAveragePooling1DOptions = GlobalPoolingOptions;
using GlobalAveragePooling2DOptions = GlobalPoolingOptions;

// [batch, spatial…, c] -> [batch, c]
LayerPtr global_max_pooling1d(GlobalPoolingOptions options);
LayerPtr global_max_pooling2d(GlobalPoolingOptions options);
LayerPtr global_average_pooling1d(GlobalPoolingOptions options);
LayerPtr global_average_pooling2d(GlobalPoolingOptions options);

}  // namespace lathe::nn
