// The layer Activation: an activation function as a layer.
#pragma once

#include "lathe/nn/layer.h"

namespace lathe::nn {

struct ActivationOptions {
  Choice activation = "linear";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("activation", activation);
  }
};

// [batch, …] -> the same shape; no weights.
LayerPtr activation(ActivationOptions options);

}  // namespace lathe::nn
