// A model whose layers form a chain, each with one input and one output.
#pragma once

#include <string>
#include <string_view>

#include "lathe/nn/model.h"

namespace lathe::nn {

// What the input of a row is called that begins with a layer of this name, as in TensorFlow.js:
// FIRST_input; "", for a generated name, where that is no valid name.
std::string row_input_name(std::string_view first);

class Sequential : public Model {
 public:
  explicit Sequential(std::string name = "sequential", uint64_t seed = 42);

  // Before the first layer comes: what the input is called. Default: row_input_name of that layer.
  Sequential& name_input(std::string name);

  // Calls the layer on the output of the one before; the first one needs an input shape.
  Sequential& add(const LayerPtr& layer);

 private:
  std::string input_name_;
};

}  // namespace lathe::nn
