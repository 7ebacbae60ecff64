// Preprocessing layers of images [height, width, channels] and categories:
// UpSampling2D, Resizing, CenterCrop, Rescaling, CategoryEncoding.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct UpSampling2DOptions {
  Sizes size = 2;
  std::string interpolation = "nearest";  // or "bilinear"
  std::string data_format = "channelsLast";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("size", size);
    field("interpolation", interpolation);
    field("dataFormat", data_format);
  }
};

// [batch, h, w, c] -> [batch, size[0] * h, size[1] * w, c]
LayerPtr up_sampling2d(UpSampling2DOptions options);

struct ResizingOptions {
  int64_t height = 0, width = 0;
  std::string interpolation = "bilinear";  // or "nearest"
  // False: the centers of corners stay in position, as TensorFlow.js has it.
  bool crop_to_aspect_ratio = false;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("height", height);
    field("width", width);
    field("interpolation", interpolation);
    field("cropToAspectRatio", crop_to_aspect_ratio);
  }
};

// [batch, h, w, c] -> [batch, height, width, c]
LayerPtr resizing(ResizingOptions options);

struct CenterCropOptions {
  int64_t height = 0, width = 0;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("height", height);
    field("width", width);
  }
};

// [batch, h, w, c] -> [batch, height, width, c]: the middle, or all of it enlarged where an axis is
// too small.
LayerPtr center_crop(CenterCropOptions options);

struct RescalingOptions {
  double scale = 1;
  double offset = 0;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("scale", scale);
    field("offset", offset);
  }
};

// x * scale + offset
LayerPtr rescaling(RescalingOptions options);

struct CategoryEncodingOptions {
  int64_t num_tokens = 0;
  std::string output_mode = "multiHot";  // "oneHot", "multiHot", "count"
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("numTokens", num_tokens);
    field("outputMode", output_mode);
  }
};

// Categories [batch, n] -> [batch, num_tokens]: 1 where one of them is (oneHot: n is 1), or how
// many are.
LayerPtr category_encoding(CategoryEncodingOptions options);

}  // namespace lathe::nn
