// The layer LayerNormalization: every example by its statistics. Ba, Kiros, Hinton, "Layer
// normalization", 2016.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct LayerNormalizationOptions {
  Sizes axis = -1;  // one or several, of the tensor, the batch included
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  WeightOptions beta = "zeros", gamma = "ones";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("axis", axis);
    field("epsilon", epsilon);
    field("center", center);
    field("scale", scale);
    field("beta", beta);
    field("gamma", gamma);
  }
};

// [batch, …] -> the same shape; weights gamma, beta of the sizes of the axes.
LayerPtr layer_normalization(LayerNormalizationOptions options);

}  // namespace lathe::nn
