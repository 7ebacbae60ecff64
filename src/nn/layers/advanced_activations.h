// Activation functions as layers with parameters: ReLU, LeakyReLU, PReLU, ELU,
// ThresholdedReLU, Softmax.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct ReLUOptions {
  double max_value = 0;  // 0: no bound
  double negative_slope = 0;
  double threshold = 0;
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("maxValue", max_value);
    field("negativeSlope", negative_slope);
    field("threshold", threshold);
  }
};

// min(x, max_value) where x >= threshold, else negative_slope * (x - threshold).
LayerPtr relu(ReLUOptions options);

struct LeakyReLUOptions {
  double alpha = 0.3;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("alpha", alpha);
  }
};

// x where x > 0, else alpha x. Maas et al., "Rectifier nonlinearities improve neural network
// acoustic models", 2013.
LayerPtr leaky_relu(LeakyReLUOptions options);

struct PReLUOptions {
  WeightOptions alpha = "zeros";
  Sizes shared_axes = {};  // axes, 1-based, along which alpha is shared
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("alpha", alpha);
    field("sharedAxes", shared_axes);
  }
};

// The same with a learned alpha for every element; weights alpha [input…], 1 along shared axes. He
// et al., "Delving deep into rectifiers", 2015.
LayerPtr prelu(PReLUOptions options);

struct ELUOptions {
  double alpha = 1;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("alpha", alpha);
  }
};

// x where x > 0, else alpha (e^x - 1).
LayerPtr elu(ELUOptions options);

struct ThresholdedReLUOptions {
  double theta = 1;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("theta", theta);
  }
};

// x where x > theta, else 0.
LayerPtr thresholded_relu(ThresholdedReLUOptions options);

struct SoftmaxOptions {
  int32_t axis = -1;  // of the tensor, the batch included
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("axis", axis);
  }
};

LayerPtr softmax(SoftmaxOptions options);

}  // namespace lathe::nn
