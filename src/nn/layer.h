// A layer as data: its name, its weights as a function of input shapes, and the function that
// builds its graph. Programs derive custom layers from UnaryLayer or Layer and add them to a model
// as any other (examples/own_layer.cc); their gradients follow from the graph. A new class of the
// package is a header and source like layers/dense.h, named in layers/layers.h, and one row
// LATHE_LAYER in tables.def.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/builder.h"
#include "lathe/nn/tables.h"
#include "lathe/ops/random.h"

namespace lathe::nn {

using graph::Shape;
using graph::Tensor;

// The user's options of a weight: initializer, regularizer, and the constraint applied
// after each update. Read as kernelInitializer, kernelRegularizer and kernelConstraint.
struct WeightOptions {
  Choice initializer, regularizer = {}, constraint = {};  // the last two may be empty: none

  WeightOptions(Choice start) : initializer(std::move(start)) {}
  WeightOptions(const char* start) : initializer(start) {}
};

// The last members of every struct of layer options: the shape of one example, empty for that of
// the layer before; the name, empty if the model chooses; false freezes the weights; the penalty
// for the result of the activation, empty for none.
#define LATHE_LAYER_OPTIONS               \
  ::lathe::graph::Shape input_shape = {}; \
  std::string name = {};                  \
  bool trainable = true;                  \
  ::lathe::nn::Choice activity_regularizer = {}

// field("jsonKey", member) for every option of a layer, those of LATHE_LAYER_OPTIONS included.
template <class Options, class Field>
void visit_options(Options& options, Field&& field) {
  options.fields(field);
  field("inputShape", options.input_shape);
  field("name", options.name);
  field("trainable", options.trainable);
  field("activityRegularizer", options.activity_regularizer);
}

// The seed of a layer; without one the model's seed is used.
struct Seed {
  std::optional<uint64_t> value = {};
};

struct Weight {
  std::string name;  // within the layer: "kernel"
  Shape shape;
  WeightOptions options;
  bool trainable = true;
};

// The prefix of names of layer states: "states/LAYER/NAME".
inline constexpr std::string_view kStatesPrefix = "states/";

// The state with the number of training steps so far, from which random numbers follow.
inline constexpr std::string_view kStepCount = "optimizer/step";

// State of a layer between batches, for every row of the batch. Initialized to zero.
struct LayerState {
  std::string name;  // within the layer
  Shape shape;       // of one row
};

// Outputs, weights and states of one call; shapes are those of one example.
struct LayerPlan {
  std::vector<Shape> outputs;
  std::vector<Weight> weights;
  std::vector<LayerState> states = {};
};

// State shared by all calls of one entry point while its graph is built.
struct BuildState {
  bool trains = false;              // whether gradients and updates are added
  uint64_t seed = 0;                // of the model
  Tensor present = {};              // f32 [batch]: 1 for a valid row, 0 for padding; if it trains
  std::vector<Tensor> losses = {};  // scalars that the training loss adds to that of the outputs
  // New contents of states that are no trainable weights, by state.
  std::map<graph::Value, Tensor> updates = {};
  // What the last activation was applied to, by its result.
  std::map<graph::Value, Tensor> before_activation = {};
  int32_t random_keys = 0;  // drawn so far
  // With checks_finite: for each result of a layer, the layer's name and whether all elements are
  // finite.
  bool checks_finite = false;
  bool advances_seed = false;  // whether the state "random/seed" is added to all seeds
  std::vector<std::pair<std::string, Tensor>> finite_results = {};
};

// One call of a layer while a graph is built: what a layer can read in addition to its inputs and
// return in addition to its outputs.
class Context {
 public:
  Context(BuildState& build, std::string layer, bool trainable)
      : layer_(std::move(layer)), trainable_(trainable), state_(build) {}

  bool trains() const { return state_.trains; }
  // False where the layer, or a model that it is part of, is frozen.
  bool trainable() const { return trainable_; }
  Tensor present() const { return state_.present; }
  // "dense_1"; within a nested model "encoder/dense_1".
  const std::string& layer() const { return layer_; }

  // A Bool [batch, time] for every input, false where the step is to be left out; a tensor without
  // builder where there is no mask.
  std::vector<Tensor> masks = {};
  // The masks of the outputs, if build_call sets any. Empty: Layer::supports_masking decides.
  std::vector<Tensor> output_masks = {};

  // A key for random numbers that differ at every training step and every call.
  ops::RandomKey random_key(graph::Builder& builder, const Seed& seed);

  // Adds a scalar to the training loss.
  void add_loss(Tensor loss) { state_.losses.push_back(loss); }
  // The content of a state after the calls so far.
  Tensor current(Tensor state) const;
  void update(Tensor state, Tensor value);
  // One of the plan's states; `shape` has the batch.
  Tensor layer_state(graph::Builder& builder, std::string_view name, Shape shape) const;

  // What a model needs to call the layers in it: the context of one, and the result of its last
  // step.
  Context within(std::string_view layer, bool trainable) const;
  Tensor activated(const Chosen<ActivationKind>& activation, Tensor x);
  // Records a result of the layer: its activity penalty, and whether it is finite.
  void note_result(const Choice& activity_regularizer, Tensor y);

 private:
  std::string layer_;
  bool trainable_;
  BuildState& state_;
};

class Model;
class RecurrentCell;
class RecurrentLayer;

class Layer {
 public:
  virtual ~Layer() = default;

  virtual std::string_view class_name() const = 0;
  // Weights and outputs for inputs whose examples have these shapes (without the batch); an error
  // states the expected shapes.
  virtual Result<LayerPlan> plan_call(std::span<const Shape> inputs) const = 0;
  // The graph up to the activation: inputs [batch, input…] -> one [batch, output…] for every output
  // of the plan; weights in the order of the plan. Where it trains, weights that are not trainable
  // may be updated.
  virtual std::vector<Tensor> build_call(std::span<const Tensor> inputs,
                                         std::span<const Tensor> weights,
                                         Context& context) const = 0;
  // Whether the mask of the first input is that of every output.
  virtual bool supports_masking() const { return false; }
  // The model that this layer calls, if it is one.
  virtual const Model* model() const { return nullptr; }
  // This layer, if it is one step of a recurrent layer, or such a layer.
  virtual const RecurrentCell* cell() const { return nullptr; }
  virtual const RecurrentLayer* recurrent() const { return nullptr; }

  const std::string& name() const { return name_; }          // empty: the model chooses
  const Shape& input_shape() const { return input_shape_; }  // empty: that of the layer before
  const Choice& activation() const { return activation_; }   // applied to the result of build_call
  // Applied to the result of the activation in training; empty: none.
  const Choice& activity_regularizer() const { return activity_regularizer_; }
  bool trainable() const { return trainable_; }

#ifndef __wasm__
  // The options that the layer was constructed with, for serialization; null if they are of another
  // type. The WebAssembly core, which serializes no models, does not store them.
  template <class Options>
  const Options* options() const {
    return options_type_ == &kType<Options> ? static_cast<const Options*>(options_.get()) : nullptr;
  }
#endif

 protected:
  // `options` has the members of LATHE_LAYER_OPTIONS.
  template <class Options>
  explicit Layer(const Options& options, Choice activation = "linear")
      : name_(options.name),
        input_shape_(options.input_shape),
        activation_(std::move(activation)),
        activity_regularizer_(options.activity_regularizer),
        trainable_(options.trainable) {
#ifndef __wasm__
    options_ = std::make_shared<const Options>(options);
    options_type_ = &kType<Options>;
#endif
  }

 private:
#ifndef __wasm__
  template <class Options>
  static inline char kType = 0;  // its address identifies the type

  std::shared_ptr<const void> options_;
  const char* options_type_ = nullptr;
#endif
  std::string name_;
  Shape input_shape_;
  Choice activation_, activity_regularizer_;
  bool trainable_;
};

using LayerPtr = std::shared_ptr<const Layer>;

struct UnaryPlan {
  Shape output;
  std::vector<Weight> weights = {};
};

// A layer of one input and one output. Where its options have a data_format that is
// "channelsFirst", plan and build see the channels last all the same.
class UnaryLayer : public Layer {
 public:
  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const final;
  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const final;

  // As plan_call and build_call. An input that is not valid() yields an invalid tensor.
  virtual Result<UnaryPlan> plan(const Shape& input) const = 0;
  virtual Tensor build(Tensor x, std::span<const Tensor> weights, Context& context) const = 0;

 protected:
  template <class Options>
  explicit UnaryLayer(const Options& options, Choice activation = "linear")
      : Layer(options, std::move(activation)) {
    if constexpr (requires { options.data_format; }) data_format_ = options.data_format;
  }
  // The axis of the tensor that plan and build see last; those below zero count from the end.
  void put_last(int32_t axis) { last_axis_ = axis; }

 private:
  // Of the tensor, for examples of this rank; 0 where it is the last already.
  Result<ptrdiff_t> last_axis(size_t rank) const;

  std::string data_format_;
  int32_t last_axis_ = -1;
};

// The error of a layer that requires an axis of the example: functions may reduce it to a scalar.
std::string scalar_example_error();

// x of any shape -> the same shape; softmax works along the last axis.
Tensor apply_activation(const Chosen<ActivationKind>& activation, Tensor x);

}  // namespace lathe::nn
