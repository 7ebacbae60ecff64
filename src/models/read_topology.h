// The topology of Keras and TensorFlow.js -> a model as api/lathe.h describes it in JSON: names by
// rule, exceptions from nn/keras.def. Independent of layers: a class accepts what its options list.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lathe/base/json.h"
#include "lathe/base/result.h"

namespace lathe::models {

struct ReadTopology {
  // For network::parse_model; shapes may have null axes (null_axes.h).
  Json network;
  // Options that only training would notice, and that the class of the layer does not have.
  std::vector<std::string> left_out;
  // Whatever cannot be read, with the layer it is in; then the network is not to be used.
  std::vector<std::string> problems;
};

// Reads as much as possible and lists all problems. Layers of `custom_classes`, defined by the
// program, may have any options.
ReadTopology analyze_topology(const Json& topology,
                              std::span<const std::string> custom_classes = {});
// As analyze_topology, but the first problem is an error: an unknown class, with the name of the
// layer; an option that the class does not have and that would change the result; a graph that is
// none.
Result<ReadTopology> read_topology(const Json& topology,
                                   std::span<const std::string> custom_classes = {});

}  // namespace lathe::models
