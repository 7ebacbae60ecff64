// The layers that make pictures [height, width, channels] smaller by the maximum or mean of
// windows, or of everything.
#pragma once

#include "nn/spatial.h"

namespace lathe::nn {

struct Pooling2DOptions {
  Sizes pool_size = 2;
  Sizes strides = {};  // empty: the pool size
  std::string padding = "valid";
  LAYER_OPTIONS;

  // field("jsonKey", member) for every own member.
  template <class Field>
  void fields(Field&& field) {
    field("poolSize", pool_size);
    field("strides", strides);
    field("padding", padding);
  }
};
using MaxPooling2DOptions = Pooling2DOptions;
using AveragePooling2DOptions = Pooling2DOptions;

// [batch, h, w, c] -> [batch, h', w', c]
LayerPtr max_pooling2d(Pooling2DOptions options);
LayerPtr average_pooling2d(Pooling2DOptions options);

struct GlobalPooling2DOptions {
  LAYER_OPTIONS;

  template <class Field>
  void fields(Field&&) {}
};
using GlobalMaxPooling2DOptions = GlobalPooling2DOptions;
using GlobalAveragePooling2DOptions = GlobalPooling2DOptions;

// [batch, h, w, c] -> [batch, c]
LayerPtr global_max_pooling2d(GlobalPooling2DOptions options);
LayerPtr global_average_pooling2d(GlobalPooling2DOptions options);

}  // namespace lathe::nn
