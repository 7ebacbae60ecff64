// Layers, losses and metrics that are implemented outside of the core: a host in another language
// declares their weights and adds their operations to the graph each time one is built. Independent
// of the host's language.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/nn/layer.h"
#include "lathe/nn/training/loss.h"

namespace lathe::network {

// What a call of the host has added to the graph of its inputs.
struct HostTrace {
  std::vector<graph::Tensor> outputs;
  std::vector<std::pair<size_t, graph::Tensor>> updates;  // by the index of the weight
};

// Layers are known by the number that the host has for them.
class LayerHost {
 public:
  // The weights of a layer for examples of these shapes.
  virtual Result<std::vector<nn::Weight>> weights(int32_t id,
                                                  std::span<const graph::Shape> inputs) const = 0;
  // Adds what a layer computes to the graph of the inputs. A mask without a graph is absent.
  virtual Status trace(int32_t id, std::span<const graph::Tensor> inputs,
                       std::span<const graph::Tensor> weights, std::span<const graph::Tensor> masks,
                       bool trains, HostTrace& traced) const = 0;

 protected:
  ~LayerHost() = default;
};

// Null without a host; then models with such layers cannot be built.
const LayerHost*& layer_host();

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

}  // namespace lathe::network
