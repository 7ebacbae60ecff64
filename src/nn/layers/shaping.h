// The layers that only move elements: Flatten, Reshape, Permute, RepeatVector, ZeroPadding2D,
// Cropping2D.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct FlattenOptions {
  std::string data_format = "channelsLast";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("dataFormat", data_format);
  }
};

// [batch, …] -> [batch, product of the rest]
LayerPtr flatten(FlattenOptions options);

struct ReshapeOptions {
  Sizes target_shape = {};  // of one example; one size may be -1
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("targetShape", target_shape);
  }
};

// [batch, …] -> [batch, target…]
LayerPtr reshape(ReshapeOptions options);

struct PermuteOptions {
  Sizes dims = {};  // out axis k is axis dims[k] of an example, 1-based
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("dims", dims);
  }
};

// [batch, …] -> the same axes in another order
LayerPtr permute(PermuteOptions options);

struct RepeatVectorOptions {
  int64_t n = 0;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("n", n);
  }
};

// [batch, c] -> [batch, n, c]
LayerPtr repeat_vector(RepeatVectorOptions options);

struct ZeroPadding2DOptions {
  Sizes padding = 1;  // all sides; height, width; or top, bottom, left, right
  std::string data_format = "channelsLast";
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("padding", padding);
    field("dataFormat", data_format);
  }
};

// [batch, h, w, c] -> [batch, top + h + bottom, left + w + right, c]
LayerPtr zero_padding2d(ZeroPadding2DOptions options);

struct Cropping2DOptions {
  Sizes cropping = 0;  // all sides; height, width; or top, bottom, left, right
  std::string data_format = "channelsLast";
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("cropping", cropping);
    field("dataFormat", data_format);
  }
};

// [batch, top + h + bottom, left + w + right, c] -> [batch, h, w, c]
LayerPtr cropping2d(Cropping2DOptions options);

}  // namespace lathe::nn
