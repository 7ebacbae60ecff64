// A model whose layers stand in a row, each with one input and one output.
#pragma once

#include "lathe/nn/model.h"

namespace lathe::nn {

class Sequential : public Model {
 public:
  explicit Sequential(std::string name = "sequential", uint64_t seed = 42)
      : Model(std::move(name), seed) {}

  // Before the first layer comes: what the input is called. Default: FIRST_input, by that layer.
  Sequential& name_input(std::string name);

  // Calls the layer on the output of the one before; the first one needs an input shape.
  Sequential& add(const LayerPtr& layer);

 private:
  std::string input_name_;
};

}  // namespace lathe::nn
