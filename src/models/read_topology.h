// The topology of Keras and TensorFlow.js -> a model as api/lathe.h describes it in JSON: names by
// rule, exceptions from nn/keras.def. Knows no layer: what a class takes is what its options say.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lathe/base/json.h"
#include "lathe/base/result.h"

namespace lathe::models {

struct ReadTopology {
  // For api::parse_model; shapes may have null axes (open_sizes.h).
  Json network;
  // Options that only training would notice, and that the class of the layer does not have.
  std::vector<std::string> left_out;
  // Whatever cannot be read, with the layer it is in; then the network is not to be used.
  std::vector<std::string> problems;
};

// Reads as much as there is. Layers of `own_classes`, which the program has written itself, may
// have any options.
ReadTopology read_whole_topology(const Json& topology,
                                 std::span<const std::string> own_classes = {});
// Errors: an unknown class, with the name of the layer; an option that the class does not have and
// that would change the result; a graph that is none.
Result<ReadTopology> read_topology(const Json& topology,
                                   std::span<const std::string> own_classes = {});

}  // namespace lathe::models
