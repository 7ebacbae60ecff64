// One call of a layer as a graph by itself, for layers that are called on tensors instead of in a
// model.
#pragma once

#include <vector>

#include "lathe/graph/graph.h"
#include "lathe/nn/layer.h"

namespace lathe::nn {

struct LayerCall {
  std::vector<Shape> shapes;      // of the inputs, with the batch
  std::vector<char> masked = {};  // which of them have a mask
  bool trains = false;
};

// Inputs, where the outputs depend on them: f32 x0, x1, …; bool mask0, …, [batch, steps], of the
// input with this number; f32 @NAME for each weight, @optimizer/step for random numbers. Outputs:
// y0, y1, …, then outputMask0, … of those that have one, then =NAME for each weight that the call
// updates where it trains, such as a moving average. Errors: the layer does not accept such inputs;
// they differ in their batch, or have none.
Result<graph::Graph> layer_graph(const LayerPtr& layer, const LayerCall& call);

}  // namespace lathe::nn
