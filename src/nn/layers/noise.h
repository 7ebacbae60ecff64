// The layers that disturb their input while a model trains and are nothing otherwise. The noise is
// a function of the layer's seed, or else the model's, of the layer's name and of the training
// step.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

// An error unless it is from 0 to below 1.
Status check_rate(std::string_view name, double rate);
// 0 with probability `rate`, else 1 / (1 - rate).
Tensor dropout_mask(graph::Builder& builder, Context& context, const Seed& seed, Shape shape,
                    double rate);

struct DropoutOptions {
  double rate = 0;
  Sizes noise_shape = {};  // with the batch; -1: as the input, 1: one decision for the entire axis
  Seed seed = {};
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("rate", rate);
    field("noiseShape", noise_shape);
    field("seed", seed);
  }
};

// Zeros with probability `rate`, else x / (1 - rate).
LayerPtr dropout(DropoutOptions options);

struct SpatialDropout1DOptions {
  double rate = 0;
  Seed seed = {};
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("rate", rate);
    field("seed", seed);
  }
};

// [batch, steps, channels]: drops entire channels.
LayerPtr spatial_dropout1d(SpatialDropout1DOptions options);

struct GaussianNoiseOptions {
  double stddev = 0;
  Seed seed = {};
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("stddev", stddev);
    field("seed", seed);
  }
};

// x + a normal number of this deviation.
LayerPtr gaussian_noise(GaussianNoiseOptions options);

struct GaussianDropoutOptions {
  double rate = 0;
  Seed seed = {};
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("rate", rate);
    field("seed", seed);
  }
};

// x times a normal number of mean 1 and deviation sqrt(rate / (1 - rate)).
LayerPtr gaussian_dropout(GaussianDropoutOptions options);

struct AlphaDropoutOptions {
  double rate = 0;
  Sizes noise_shape = {};
  Seed seed = {};
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("rate", rate);
    field("noiseShape", noise_shape);
    field("seed", seed);
  }
};

// Sets elements to the limit of selu and preserves mean 0 and variance 1: Klambauer et al. 2017.
LayerPtr alpha_dropout(AlphaDropoutOptions options);

}  // namespace lathe::nn
