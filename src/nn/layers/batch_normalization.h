// The layer BatchNormalization of channels: statistics of the batch while it trains,
// moving ones otherwise. Ioffe & Szegedy, "Batch normalization", 2015.
#pragma once

#include "lathe/nn/layer.h"

namespace lathe::nn {

struct BatchNormalizationOptions {
  int32_t axis = -1;  // of the channels, in the tensor; the batch is 0
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  WeightOptions beta = "zeros", gamma = "ones";
  Choice moving_mean_initializer = "zeros";
  Choice moving_variance_initializer = "ones";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("axis", axis);
    field("momentum", momentum);
    field("epsilon", epsilon);
    field("center", center);
    field("scale", scale);
    field("beta", beta);
    field("gamma", gamma);
    field("movingMeanInitializer", moving_mean_initializer);
    field("movingVarianceInitializer", moving_variance_initializer);
  }
};

// [batch, …, c] -> the same shape; weights gamma, beta, moving_mean, moving_variance, all [c].
LayerPtr batch_normalization(BatchNormalizationOptions options);

}  // namespace lathe::nn
