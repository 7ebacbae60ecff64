// A layer as data: its name, its weights for given input shapes, and the function that builds its
// graph. Programs derive layers of their own from UnaryLayer or Layer and add them to a model as
// any other (examples/own_layer.cc); their gradients follow from the graph. A new class of the
// package is a header and source like dense.h, named in layers.h, and one row LATHE_LAYER in
// tables.def.
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

// What a user says of a weight: how it starts, what it adds to the loss, and what it is made to
// obey after each update. Read as kernelInitializer, kernelRegularizer and kernelConstraint.
struct WeightOptions {
  Choice initializer, regularizer = {}, constraint = {};  // the last two may be empty: none

  WeightOptions(Choice start) : initializer(std::move(start)) {}
  WeightOptions(const char* start) : initializer(start) {}
};

// The last members of every struct of layer options: the shape of one example, empty for that of
// the layer before; the name, empty if the model chooses; false freezes the weights; the penalty
// for what the activation gives, empty for none.
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

// That of a layer; without one the model's counts.
struct Seed {
  std::optional<uint64_t> value = {};
};

struct Weight {
  std::string name;  // within the layer: "kernel"
  Shape shape;
  WeightOptions options;
  bool trainable = true;
};

// The names of kept states start with it: "states/LAYER/NAME".
inline constexpr std::string_view kKeptStates = "states/";

// What a layer keeps from one batch to the next, for every row of the batch. Starts at zero.
struct KeptState {
  std::string name;  // within the layer
  Shape shape;       // of one row
};

// Of one call with given inputs; shapes are those of one example.
struct LayerPlan {
  std::vector<Shape> outputs;
  std::vector<Weight> weights;
  std::vector<KeptState> states = {};
};

// What all calls of one entry point share while its graph is built.
struct Trace {
  bool trains = false;  // gradients and updates follow
  uint64_t seed = 0;    // of the model
  Tensor present = {};  // f32 [batch]: 1 for a row that holds data, else 0; where it trains
  std::vector<Tensor> losses = {};  // scalars that the training loss adds to that of the outputs
  // New contents of states that are no trainable weights, by state.
  std::map<graph::Value, Tensor> updates = {};
  // What the last activation was applied to, by its result.
  std::map<graph::Value, Tensor> before_activation = {};
  int32_t random_keys = 0;  // given out so far
  // Where numbers are watched: for each result of a layer, its name and whether all is finite.
  bool watches = false;
  bool moves_seed = false;  // whether the state "random/seed" changes all random numbers
  std::vector<std::pair<std::string, Tensor>> watched = {};
};

// One call of a layer while a graph is built: what a layer may know beside its inputs and give
// beside its outputs.
class Context {
 public:
  Context(Trace& trace, std::string layer, bool trainable)
      : layer_(std::move(layer)), trainable_(trainable), trace_(trace) {}

  bool trains() const { return trace_.trains; }
  // False where the layer, or a model that it is part of, is frozen.
  bool trainable() const { return trainable_; }
  Tensor present() const { return trace_.present; }
  // "dense_1"; within a nested model "encoder/dense_1".
  const std::string& layer() const { return layer_; }

  // A Bool [batch, time] for every input, false where the step is to be left out; a tensor without
  // builder where there is no mask.
  std::vector<Tensor> masks = {};
  // The masks of the outputs, if build_call gives any. Empty: Layer::supports_masking decides.
  std::vector<Tensor> output_masks = {};

  // For random numbers that are others at every training step and at every call.
  ops::RandomKey random_key(graph::Builder& builder, const Seed& seed);

  // Adds a scalar to the training loss.
  void add_loss(Tensor loss) { trace_.losses.push_back(loss); }
  // The content of a state after the calls so far.
  Tensor current(Tensor state) const {
    const auto at = trace_.updates.find(state.value);
    return at == trace_.updates.end() ? state : at->second;
  }
  void update(Tensor state, Tensor value) { trace_.updates[state.value] = value; }
  // One of the plan's states; `shape` has the batch.
  Tensor kept_state(graph::Builder& builder, std::string_view name, Shape shape) const;

  // What a model needs to call the layers in it: the context of one, and the result of its last
  // step.
  Context within(std::string_view layer, bool trainable) const;
  Tensor activated(const Chosen<ActivationKind>& activation, Tensor x);
  // Takes note of a result of the layer: of the penalty for it, and of numbers that are not finite.
  void note_result(const Choice& activity_regularizer, Tensor y);

 private:
  std::string layer_;
  bool trainable_;
  Trace& trace_;
};

class Model;
class RecurrentCell;
class RecurrentLayer;

class Layer {
 public:
  virtual ~Layer() = default;

  virtual std::string_view class_name() const = 0;
  // Weights and outputs for inputs whose examples have these shapes (without the batch); an error
  // says which shapes the layer wants.
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
  const Choice& activation() const { return activation_; }   // applied to what build_call gives
  // Applied to what the activation gives, while the model trains; empty: none.
  const Choice& activity_regularizer() const { return activity_regularizer_; }
  bool trainable() const { return trainable_; }

#ifndef __wasm__
  // What the layer was made with, for those who write it down; null if that were options of another
  // type. The core in pages, which writes no model down, keeps none.
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
  static inline char kType = 0;  // its address stands for the type

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

  // As plan_call and build_call. An input that is not valid() gives an invalid tensor.
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

// What a layer says that needs an axis of the example: functions may leave one number of it.
std::string one_number_refused();

// x of any shape -> the same shape; softmax works along the last axis.
Tensor apply_activation(const Chosen<ActivationKind>& activation, Tensor x);

}  // namespace lathe::nn
