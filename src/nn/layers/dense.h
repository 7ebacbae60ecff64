// The layer Dense: output = activation(x · kernel + bias) along the last axis.
#pragma once

#include "lathe/nn/layer.h"

namespace lathe::nn {

struct DenseOptions {
  int64_t units = 0;
  Choice activation = "linear";
  bool use_bias = true;
  WeightOptions kernel = "glorotNormal", bias = "zeros";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("units", units);
    field("activation", activation);
    field("useBias", use_bias);
    field("kernel", kernel);
    field("bias", bias);
  }
};

// [batch, …, n] -> [batch, …, units]; weights kernel [n, units] and bias [units].
LayerPtr dense(DenseOptions options);

}  // namespace lathe::nn
