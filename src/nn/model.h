// A model: a graph of layer calls between named inputs and outputs. It has no values; weights
// are initialized as a function of the seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/nn/initializer.h"
#include "lathe/nn/layer.h"

namespace lathe::nn {

// Whether this is a valid name of an input or layer.
bool is_name(std::string_view name);

// The result of an input or a call of a model.
struct ModelValue {
  int32_t id = -1;
  auto operator<=>(const ModelValue&) const = default;
};

// A layer of a model with its weights. Shapes are those of its first call, of one example.
struct BuiltLayer {
  LayerPtr layer;
  std::string name;
  Chosen<ActivationKind> activation;
  std::vector<Shape> inputs, outputs;
  std::vector<Weight> weights;  // names "LAYER/WEIGHT"
  std::vector<LayerState> states;

  int64_t parameter_count() const;
};

struct Call {
  size_t layer;  // of Model::layers()
  std::vector<ModelValue> inputs, outputs;
};

// An input or output by name.
struct Port {
  std::string name;
  ModelValue value;
};

// Each method checks what it adds. The first error is stored and names the layer; later calls do
// nothing, and status() and build_program() report it.
class Model {
 public:
  explicit Model(std::string name = "model", uint64_t seed = 42);

  // `shape` is that of one example. Without a name it becomes input_1, input_2…
  ModelValue input(Shape shape, std::string name = {});
  // A layer of one output. Further calls of the same layer share its weights. Layers without a name
  // become dense_1, dense_2, activation_1…
  ModelValue call(const LayerPtr& layer, const std::vector<ModelValue>& inputs);
  ModelValue call(const LayerPtr& layer, ModelValue input) {
    return call(layer, std::vector<ModelValue>{input});
  }
  std::vector<ModelValue> call_all(const LayerPtr& layer, const std::vector<ModelValue>& inputs);
  // Without a name it has that of the layer or input that produces the value.
  Model& output(ModelValue value, std::string name = {});

  // Rows of every batch, required by layers with states between batches; 0: any.
  Model& set_batch_size(int64_t rows) {
    batch_ = rows;
    return *this;
  }
  int64_t batch() const { return batch_; }

  // An error if a call failed, or there is no input or output.
  Status status() const;

  const std::string& name() const { return name_; }
  uint64_t seed() const { return seed_; }
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  const std::vector<BuiltLayer>& layers() const { return layers_; }
  const std::vector<Call>& calls() const { return calls_; }  // each after those it reads
  // Of one example; empty for results of a failed call.
  const Shape& shape(ModelValue value) const {
#ifndef __wasm__
    static const Shape none;
    if (static_cast<size_t>(value.id) >= values_.size()) return none;
#endif
    return values_[value.id].shape;
  }
  // The name of the layer or input that produces it.
  const std::string& producer(ModelValue value) const;
  // "output of layer "dense_1"", "input "input_1"".
  std::string description(ModelValue value) const;
  // That of the only input or output; needs status() to be good.
  const Shape& input_shape() const { return shape(inputs_.front().value); }
  const Shape& output_shape() const { return shape(outputs_.front().value); }

  // All weights in the order of the layers.
  std::vector<Variable> weights() const;
  // The states of layers between batches; names "LAYER/STATE".
  std::vector<LayerState> states() const;
  // The activation that an output ends with, nested models looked into; null if it is an input.
  const Chosen<ActivationKind>* last_activation(size_t output) const;
  // The same layers, by the same names, called on inputs of other shapes, one for each input.
  // Error: a layer does not support them, or would need other weights.
  Result<Model> with_inputs(std::span<const Shape> shapes) const;
  // The graph: one tensor for every output. `weights` as weights() lists them; masks as in Context.
  std::vector<Tensor> build(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                            Context& context) const;

 protected:
  bool failed() const { return !message_.empty(); }
  ModelValue record_error(std::string message);
  std::string name_for(const Layer& layer);
  // Makes it the only output.
  void set_output(ModelValue value) {
    outputs_.clear();
    output(value);
  }

 private:
  struct Value {
    Shape shape;
    int32_t call = -1;  // -1: an input
    size_t index = 0;   // among the outputs of the call, or the inputs of the model
  };

  ModelValue add_value(Value value);
  Result<std::vector<Shape>> shapes_of(const Layer& layer,
                                       const std::vector<ModelValue>& inputs) const;
  // The index of the new call.
  Result<size_t> add_call(const LayerPtr& layer, const std::string& name,
                          const std::vector<ModelValue>& inputs);
  static Result<BuiltLayer> build_layer(const LayerPtr& layer, const std::string& name,
                                        LayerPlan plan);
  // Records an error of the builder and invalidates the results where a layer deviates from its
  // plan.
  void check_results(const Call& call, Tensor input, std::vector<Tensor>& results) const;
  Status check_name(std::string_view what, const std::string& name) const;
  bool is_used(const std::string& name) const;
  // The first of stem_1, stem_2, … that is not used.
  std::string free_name(std::string_view stem);

  std::string name_;
  uint64_t seed_;
  int64_t batch_ = 0;
  bool accepts_any_shape_ = false;  // also inputs that differ from a layer's declared input shape
  std::vector<Port> inputs_, outputs_;
  std::vector<BuiltLayer> layers_;
  std::vector<Call> calls_;
  std::vector<Value> values_;
  std::map<std::string, int> numbers_;  // by stem: those below are used
  int64_t weight_bytes_ = 0;
  std::string message_;
};

// The model as a layer of another one: its inputs and outputs are those of the model, its weights
// are called "MODEL/LAYER/WEIGHT". The model's status() must be good.
LayerPtr as_layer(Model model, bool trainable = true);

// An error that starts with `what` if a float tensor of this shape has an axis below 1 or does not
// fit the 4 GiB of a module.
Status check_shape(std::string_view what, const Shape& shape);

}  // namespace lathe::nn
