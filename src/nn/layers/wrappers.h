// Layers around a layer: Bidirectional and TimeDistributed.
#pragma once

#include "lathe/nn/layer.h"

namespace lathe::nn {

struct BidirectionalOptions {
  LayerPtr layer = nullptr;           // recurrent
  std::string merge_mode = "concat";  // "concat", "sum", "mul", "ave", or "none": two outputs
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("layer", layer);
    field("mergeMode", merge_mode);
  }
};

// The layer and a second one of its kind with separate weights that processes the steps in the
// other order. Initial and last states are those of the first, then of the second. Schuster,
// Paliwal, "Bidirectional recurrent neural networks", 1997.
LayerPtr bidirectional(BidirectionalOptions options);

struct TimeDistributedOptions {
  LayerPtr layer = nullptr;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("layer", layer);
  }
};

// The layer on each step of [batch, time, …].
LayerPtr time_distributed(TimeDistributedOptions options);

}  // namespace lathe::nn
