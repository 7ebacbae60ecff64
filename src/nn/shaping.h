// The layers that only move elements: Flatten, Reshape, ZeroPadding2D.
#pragma once

#include "nn/spatial.h"

namespace lathe::nn {

struct FlattenOptions {
  Shape input_shape = {};
  std::string name = {};

  // field("jsonKey", member) for every member.
  template <class Field>
  void fields(Field&& field) {
    field("inputShape", input_shape);
    field("name", name);
  }
};

// [batch, …] -> [batch, product of the rest]
LayerPtr flatten(FlattenOptions options);

struct ReshapeOptions {
  Sizes target_shape = {};  // of one example; one size may be -1
  Shape input_shape = {};
  std::string name = {};

  template <class Field>
  void fields(Field&& field) {
    field("targetShape", target_shape);
    field("inputShape", input_shape);
    field("name", name);
  }
};

// [batch, …] -> [batch, target…]
LayerPtr reshape(ReshapeOptions options);

struct ZeroPadding2DOptions {
  Sizes padding = 1;  // all sides; height, width; or top, bottom, left, right
  Shape input_shape = {};
  std::string name = {};

  template <class Field>
  void fields(Field&& field) {
    field("padding", padding);
    field("inputShape", input_shape);
    field("name", name);
  }
};

// [batch, h, w, c] -> [batch, top + h + bottom, left + w + right, c]
LayerPtr zero_padding2d(ZeroPadding2DOptions options);

}  // namespace lathe::nn
