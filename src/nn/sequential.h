// A model: layers one after the other. It holds no numbers; weights start as a function of the
// seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/initializer.h"
#include "nn/layer.h"

namespace lathe::nn {

// A layer at its place in a model.
struct PlacedLayer {
  LayerPtr layer;
  std::string name;
  Shape input, output;  // of one example
  Chosen<ActivationKind> activation;
  std::vector<Variable> weights;  // names "LAYER/WEIGHT"

  int64_t parameter_count() const;
};

class Sequential {
 public:
  explicit Sequential(std::string name = "sequential", uint64_t seed = 42)
      : name_(std::move(name)), seed_(seed) {}

  // Checks the layer against the output of the one before. The first mistake is kept and names the
  // layer; later calls do nothing, and status() and build_program() report it. Layers without a
  // name become dense_1, dense_2, activation_1…
  Sequential& add(const LayerPtr& layer);

  // An error if a call of add failed or there is no layer.
  Status status() const;

  const std::string& name() const { return name_; }
  uint64_t seed() const { return seed_; }
  // The following need status() to be good.
  const std::vector<PlacedLayer>& layers() const { return layers_; }
  const Shape& input_shape() const { return layers_.front().input; }
  const Shape& output_shape() const { return layers_.back().output; }

 private:
  Result<PlacedLayer> place(const LayerPtr& layer, const std::string& name) const;
  Status check_name(const std::string& name) const;
  std::string free_name(std::string_view class_name) const;

  std::string name_;
  uint64_t seed_;
  std::vector<PlacedLayer> layers_;
  std::string message_;
};

// An error that starts with `what` if a float tensor of this shape has an axis below 1 or does not
// fit the 4 GiB of a module.
Status check_shape(std::string_view what, const Shape& shape);

}  // namespace lathe::nn
