// The layer Activation: an activation function as a layer of its own.
#pragma once

#include "nn/layer.h"

namespace lathe::nn {

struct ActivationOptions {
  Choice activation = {};
  Shape input_shape = {};
  std::string name = {};

  // field("jsonKey", member) for every member.
  template <class Field>
  void fields(Field&& field) {
    field("activation", activation);
    field("inputShape", input_shape);
    field("name", name);
  }
};

// [batch, …] -> the same shape; no weights.
LayerPtr activation(ActivationOptions options);

}  // namespace lathe::nn
