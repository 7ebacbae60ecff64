// Layers, losses and metrics that are implemented outside of the core: a host in another language
// declares their weights and adds their operations to the graph each time one is built. Independent
// of the host's language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/nn/layer.h"
#include "lathe/nn/loss.h"

namespace lathe::api {

// Answers the requests described at lathe_use_layer_host.
using LayerHost = Result<std::string> (*)(std::string_view question);

// Null without a host.
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
std::shared_ptr<const nn::CustomLoss> host_loss(std::string name, int32_t id);

}  // namespace lathe::api
