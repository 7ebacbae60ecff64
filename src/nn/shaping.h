// The layers that only move elements: Flatten, Reshape, ZeroPadding2D.
#pragma once

#include "nn/spatial.h"

namespace lathe::nn {

struct FlattenOptions {
  LAYER_OPTIONS;

  // field("jsonKey", member) for every own member.
  template <class Field>
  void fields(Field&&) {}
};

// [batch, …] -> [batch, product of the rest]
LayerPtr flatten(FlattenOptions options);

struct ReshapeOptions {
  Sizes target_shape = {};  // of one example; one size may be -1
  LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("targetShape", target_shape);
  }
};

// [batch, …] -> [batch, target…]
LayerPtr reshape(ReshapeOptions options);

struct ZeroPadding2DOptions {
  Sizes padding = 1;  // all sides; height, width; or top, bottom, left, right
  LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("padding", padding);
  }
};

// [batch, h, w, c] -> [batch, top + h + bottom, left + w + right, c]
LayerPtr zero_padding2d(ZeroPadding2DOptions options);

}  // namespace lathe::nn
