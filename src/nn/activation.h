// The layer Activation: an activation function as a layer of its own.
#pragma once

#include "lathe/nn/layer.h"

namespace lathe::nn {

struct ActivationOptions {
  Choice activation = "linear";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every own member.
  template <class Field>
  void fields(Field&& field) {
    field("activation", activation);
  }
};

// [batch, …] -> the same shape; no weights.
LayerPtr activation(ActivationOptions options);

}  // namespace lathe::nn
