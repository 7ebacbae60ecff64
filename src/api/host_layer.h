// Layers, losses and metrics whose computation is written outside of the core: another language
// says which weights they have, and adds their operations to the graph each time one is built. Not
// who that is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/nn/layer.h"
#include "lathe/nn/loss.h"

namespace lathe::api {

// Answers the questions that lathe_use_layer_host describes.
using LayerHost = Result<std::string> (*)(std::string_view question);

// Null where nobody answers.
LayerHost& layer_host();

struct HostLayerOptions {
  std::string class_name = {};
  int32_t id = 0;  // as the host calls the layer
  bool supports_masking = false;
  std::vector<int64_t> state_sizes = {};  // of a recurrent cell
  LATHE_LAYER_OPTIONS;
};

// Any number of inputs and outputs, all f32 with the batch as first axis. Weights that are not
// trainable may be updated where it trains. With state sizes it is a cell: one step, of the input
// and the states.
nn::LayerPtr host_layer(HostLayerOptions options);

// A loss or metric as a layer of the inputs labels and output; errors begin with its name.
std::shared_ptr<const nn::OwnLoss> host_loss(std::string name, int32_t id);

}  // namespace lathe::api
