// A model: a graph of layer calls between named inputs and outputs. It holds no numbers; weights
// start as a function of the seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/nn/initializer.h"
#include "lathe/nn/layer.h"

namespace lathe::nn {

// Whether inputs and layers may be called so.
bool is_name(std::string_view name);

// What an input or a call of a model gives.
struct ModelValue {
  int32_t id = -1;
  auto operator<=>(const ModelValue&) const = default;
};

// A layer at its place in a model. Shapes are those of its first call, of one example.
struct PlacedLayer {
  LayerPtr layer;
  std::string name;
  Chosen<ActivationKind> activation;
  std::vector<Shape> inputs, outputs;
  std::vector<Weight> weights;  // names "LAYER/WEIGHT"
  std::vector<KeptState> states;

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

// Each method checks what it adds. The first mistake is kept and names the layer; later calls do
// nothing, and status() and build_program() report it.
class Model {
 public:
  explicit Model(std::string name = "model", uint64_t seed = 42)
      : name_(std::move(name)), seed_(seed) {}

  // `shape` is that of one example. Without a name it becomes input_1, input_2…
  ModelValue input(Shape shape, std::string name = {});
  // A layer of one output. Calling the same layer again shares its weights. Layers without a name
  // become dense_1, dense_2, activation_1…
  ModelValue call(const LayerPtr& layer, const std::vector<ModelValue>& inputs);
  ModelValue call(const LayerPtr& layer, ModelValue input) {
    return call(layer, std::vector<ModelValue>{input});
  }
  std::vector<ModelValue> call_all(const LayerPtr& layer, const std::vector<ModelValue>& inputs);
  // Without a name it has that of the layer or input that gives the value.
  Model& output(ModelValue value, std::string name = {});

  // Rows of every batch, which layers that keep states between batches must know; 0: any.
  Model& fix_batch(int64_t rows) {
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
  const std::vector<PlacedLayer>& layers() const { return layers_; }
  const std::vector<Call>& calls() const { return calls_; }  // each after those it reads
  // Of one example; empty for what a call gives that was refused.
  const Shape& shape(ModelValue value) const {
#ifndef __wasm__
    static const Shape none;
    if (static_cast<size_t>(value.id) >= values_.size()) return none;
#endif
    return values_[value.id].shape;
  }
  // The name of the layer or input that gives it.
  const std::string& giver(ModelValue value) const;
  // "output of layer "dense_1"", "input "input_1"".
  std::string spelled(ModelValue value) const;
  // That of the only input or output; needs status() to be good.
  const Shape& input_shape() const { return shape(inputs_.front().value); }
  const Shape& output_shape() const { return shape(outputs_.front().value); }

  // All weights in the order of the layers.
  std::vector<Variable> weights() const;
  // What the layers keep between batches; names "LAYER/STATE".
  std::vector<KeptState> states() const;
  // The activation that an output ends with, nested models looked into; null if it is an input.
  const Chosen<ActivationKind>* last_activation(size_t output) const;
  // The same layers, by the same names, called on inputs of other shapes, one for each input.
  // Error: a layer does not take them, or would need other weights.
  Result<Model> with_inputs(std::span<const Shape> shapes) const;
  // The graph: one tensor for every output. `weights` as weights() lists them; masks as in Context.
  std::vector<Tensor> build(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                            Context& context) const;

 protected:
  bool failed() const { return !message_.empty(); }
  ModelValue refuse(std::string message);
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
    size_t place = 0;   // among the outputs of the call, or the inputs of the model
  };

  ModelValue add_value(Value value);
  Result<std::vector<Shape>> shapes_of(const Layer& layer,
                                       const std::vector<ModelValue>& inputs) const;
  // The index of the new call.
  Result<size_t> add_call(const LayerPtr& layer, const std::string& name,
                          const std::vector<ModelValue>& inputs);
  static Result<PlacedLayer> place(const LayerPtr& layer, const std::string& name, LayerPlan plan);
  // An error of the builder and tensors that are not valid where a layer did not keep to its plan.
  void check_results(const Call& call, Tensor input, std::vector<Tensor>& results) const;
  Status check_name(std::string_view what, const std::string& name) const;
  bool is_taken(const std::string& name) const;
  // The first of stem_1, stem_2, … that is not taken.
  std::string free_name(std::string_view stem);

  std::string name_;
  uint64_t seed_;
  int64_t batch_ = 0;
  bool takes_any_ = false;  // inputs of layers that say which they take
  std::vector<Port> inputs_, outputs_;
  std::vector<PlacedLayer> layers_;
  std::vector<Call> calls_;
  std::vector<Value> values_;
  std::map<std::string, int> numbers_;  // by stem: those below are taken
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
