// The layer MultiHeadAttention. Vaswani et al., "Attention is all you need", 2017.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct MultiHeadAttentionOptions {
  int64_t num_heads = 0;
  int64_t key_dim = 0;       // numbers of a query and of a key, for each head
  int64_t value_dim = 0;     // of a value; 0: key_dim
  int64_t output_shape = 0;  // channels of the result; 0: those of the query
  bool use_bias = true;
  bool use_causal_mask = false;  // a query attends to steps up to its position only
  WeightOptions kernel = "glorotUniform", bias = "zeros";
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("numHeads", num_heads);
    field("keyDim", key_dim);
    field("valueDim", value_dim);
    field("outputShape", output_shape);
    field("useBias", use_bias);
    field("useCausalMask", use_causal_mask);
    field("kernel", kernel);
    field("bias", bias);
  }
};

// query [batch, t, d], value [batch, s, e], key [batch, s, f] (absent: value; a single input is all
// three) -> [batch, t, d]. Weights query, key and value kernels [channels, heads, dim] and biases
// [heads, dim], attention_output kernel [heads, value_dim, d] and bias [d]. Masks of query and
// value leave steps out.
LayerPtr multi_head_attention(MultiHeadAttentionOptions options);

}  // namespace lathe::nn
