// The layers at the start of sequence models: Embedding and Masking.
#pragma once

#include "lathe/nn/layer.h"

namespace lathe::nn {

struct EmbeddingOptions {
  int64_t input_dim = 0;   // the indices are 0 to input_dim - 1
  int64_t output_dim = 0;  // numbers for each index
  WeightOptions embeddings = "randomUniform";
  bool mask_zero = false;    // index 0 means that there is no step
  int64_t input_length = 0;  // of the first layer, instead of its input shape
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("inputDim", input_dim);
    field("outputDim", output_dim);
    field("embeddings", embeddings);
    field("maskZero", mask_zero);
    field("inputLength", input_length);
  }
};

// Indices [batch, …] -> [batch, …, output_dim]; weights embeddings [input_dim, output_dim]. An
// index out of range is clamped.
LayerPtr embedding(EmbeddingOptions options);

struct MaskingOptions {
  double mask_value = 0;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("maskValue", mask_value);
  }
};

// [batch, steps, …] -> the same, zero at the steps whose elements all equal mask_value; these are
// masked in the following layers.
LayerPtr masking(MaskingOptions options);

}  // namespace lathe::nn
