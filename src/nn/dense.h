// The layer Dense: output = activation(x · kernel + bias) along the last axis.
#pragma once

#include "nn/layer.h"

namespace lathe::nn {

struct DenseOptions {
  int64_t units = 0;
  Choice activation = "linear";
  bool use_bias = true;
  Choice kernel_initializer = "glorotUniform";
  Choice bias_initializer = "zeros";
  Choice kernel_regularizer = {}, kernel_constraint = {};
  Choice bias_regularizer = {}, bias_constraint = {};
  Choice activity_regularizer = {};
  LAYER_OPTIONS;

  // field("jsonKey", member) for every own member.
  template <class Field>
  void fields(Field&& field) {
    field("units", units);
    field("activation", activation);
    field("useBias", use_bias);
    field("kernelInitializer", kernel_initializer);
    field("biasInitializer", bias_initializer);
    field("kernelRegularizer", kernel_regularizer);
    field("kernelConstraint", kernel_constraint);
    field("biasRegularizer", bias_regularizer);
    field("biasConstraint", bias_constraint);
    field("activityRegularizer", activity_regularizer);
  }
};

// [batch, …, n] -> [batch, …, units]; weights kernel [n, units] and bias [units].
LayerPtr dense(DenseOptions options);

}  // namespace lathe::nn
