// A layer as data: its name, its weights for a given input shape, and the function that builds its
// graph. A new layer class is a header and
// source like dense.h, named in layers.h, and one row LAYER in tables.def.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/builder.h"
#include "nn/tables.h"

namespace lathe::nn {

using graph::Shape;
using graph::Tensor;

struct Weight {
  std::string name;  // within the layer: "kernel"
  Shape shape;
  Choice initializer;
  bool trainable = true;
};

struct LayerPlan {
  Shape output;  // of one example
  std::vector<Weight> weights;
};

// The entry point that a graph is built for.
struct Mode {
  bool trains = false;
  Tensor present = {};  // f32 [batch]: 1 for a row that holds data, else 0. Only where it trains.
};

class Layer {
 public:
  virtual ~Layer() = default;

  virtual std::string_view class_name() const = 0;
  // Weights and output for examples of shape `input` (without the batch); an error says which shape
  // the layer wants.
  virtual Result<LayerPlan> plan(const Shape& input) const = 0;
  // The graph up to the activation: x [batch, input…] -> [batch, output…]; weights in the order of
  // the plan. Where it trains, weights that are not trainable may be updated.
  virtual Tensor build(Tensor x, std::span<const Tensor> weights, const Mode& mode) const = 0;

  const std::string& name() const { return name_; }          // empty: the model chooses
  const Shape& input_shape() const { return input_shape_; }  // empty: that of the layer before
  const Choice& activation() const { return activation_; }   // applied to what build gives

 protected:
  Layer(std::string name, Shape input_shape, Choice activation)
      : name_(std::move(name)),
        input_shape_(std::move(input_shape)),
        activation_(std::move(activation)) {}

 private:
  std::string name_;
  Shape input_shape_;
  Choice activation_;
};

using LayerPtr = std::shared_ptr<const Layer>;

// x of any shape -> the same shape; softmax works along the last axis.
Tensor apply_activation(const Chosen<ActivationKind>& activation, Tensor x);

}  // namespace lathe::nn
