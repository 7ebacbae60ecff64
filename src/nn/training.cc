#include "nn/training.h"

#include <optional>

#include "base/text.h"
#include "grad/gradient.h"
#include "nn/optimizer.h"
#include "ops/activations.h"
#include "ops/losses.h"

namespace lathe::nn {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;

// The options with every name resolved and checked against the model.
struct Plan {
  std::optional<Chosen<LossKind>> loss;
  std::optional<Chosen<OptimizerKind>> optimizer;
  bool fused = false;  // the loss includes the last activation
};

struct Outputs {
  Tensor before_activation, output;
};

ActivationKind taken_activation(LossKind kind) {
  switch (kind) {
#define TAKES(activation_) ActivationKind::activation_
#define LOSS(name_, text_, per_row_, takes_) \
  case LossKind::name_:                      \
    return takes_;
#include "nn/tables.def"
#undef TAKES
  }
  return ActivationKind::Linear;
}

// x, y [n, outputs] -> [n].
Tensor row_losses(LossKind kind, Tensor x, Tensor y) {
  switch (kind) {
#define PER_ROW(...) __VA_ARGS__
#define LOSS(name_, text_, per_row_, takes_) \
  case LossKind::name_:                      \
    return per_row_;
#include "nn/tables.def"
#undef PER_ROW
  }
  return x;
}

// Whether the loss has the last activation inside. An error if the two do not go together.
Result<bool> fuses(const Sequential& model, LossKind loss) {
  const ActivationKind takes = taken_activation(loss);
  const PlacedLayer& last = model.layers().back();
  const ActivationKind ends_with = last.activation.kind;
  if (takes == ActivationKind::Linear) return false;
  if (ends_with == takes) return true;
  if (ends_with == ActivationKind::Linear) return false;
  const auto name = [](ActivationKind kind) {
    return activations()[static_cast<size_t>(kind)].name;
  };
  return fail(concat("loss ", losses()[static_cast<size_t>(loss)].name,
                     " needs a model that ends with ", name(takes), " or linear, but layer \"",
                     last.name, "\" ends with ", name(ends_with), ": change its activation to \"",
                     name(takes), "\""));
}

Status check_batch(const Sequential& model, std::string_view entry, int64_t batch) {
  if (batch < 1 || batch > INT32_MAX) {
    return fail(concat("batch size of ", entry, " must be a positive integer, got ", batch));
  }
  const auto with_batch = [batch](Shape shape) {
    shape.insert(shape.begin(), batch);
    return shape;
  };
  TRY(check_shape(concat(entry, ": input"), with_batch(model.input_shape())));
  for (const PlacedLayer& layer : model.layers()) {
    TRY(check_shape(concat(entry, ": output of layer \"", layer.name, "\""),
                    with_batch(layer.output)));
  }
  return {};
}

Result<Plan> check(const Sequential& model, const TrainingOptions& options) {
  TRY(model.status());
  Plan plan;
  TRY(check_batch(model, "predict", options.batch.predict));
  if (options.loss.empty()) {
    if (!options.optimizer.empty()) return fail("an optimizer needs a loss");
    return plan;
  }
  ASSIGN_OR_RETURN(plan.loss, find_loss(options.loss));
  TRY(check_batch(model, "evaluate", options.batch.evaluate));
  if (model.output_shape().size() != 1) {
    return fail(concat("a loss needs an output of one axis per example, but layer \"",
                       model.layers().back().name, "\" gives ", bracketed(model.output_shape())));
  }
  ASSIGN_OR_RETURN(plan.fused, fuses(model, plan.loss->kind));
  if (!options.optimizer.empty()) {
    ASSIGN_OR_RETURN(plan.optimizer, find_optimizer(options.optimizer));
    TRY(check_batch(model, "train", options.batch.train));
  }
  return plan;
}

std::vector<Variable> weights_of(const Sequential& model) {
  std::vector<Variable> weights;
  for (const PlacedLayer& layer : model.layers()) {
    weights.insert(weights.end(), layer.weights.begin(), layer.weights.end());
  }
  return weights;
}

std::vector<Variable> trainable(std::vector<Variable> weights) {
  std::erase_if(weights, [](const Variable& weight) { return !weight.trainable; });
  return weights;
}

Tensor input_of(Builder& builder, const Sequential& model, int64_t batch) {
  Shape shape = model.input_shape();
  shape.insert(shape.begin(), batch);
  return builder.input("x", DType::F32, shape);
}

Outputs forward(Builder& builder, const Sequential& model, Tensor x, const Mode& mode = {}) {
  Outputs outputs{x, x};
  for (const PlacedLayer& layer : model.layers()) {
    std::vector<Tensor> weights;
    for (const Variable& weight : layer.weights) {
      weights.push_back(builder.state(weight.name, DType::F32, weight.shape));
    }
    outputs.before_activation = layer.layer->build(outputs.output, weights, mode);
    outputs.output = apply_activation(layer.activation, outputs.before_activation);
  }
  return outputs;
}

// Labels as f32 [batch, outputs], whatever their form.
Tensor labels_of(Builder& builder, Labels labels, int64_t batch, int64_t outputs) {
  if (labels == Labels::Dense) return builder.input("y", DType::F32, {batch, outputs});
  return ops::one_hot(builder.input("y", DType::I32, {batch}), outputs);
}

// prediction, y [n, outputs] -> [n], 1 where the row is right.
Tensor row_hits(Builder& builder, Tensor prediction, Tensor y) {
  if (!prediction.valid() || prediction.shape()[1] != 1) return ops::row_hits(prediction, y);
  const Tensor half = builder.scalar(0.5f);
  const Tensor said = builder.cast(prediction > half, DType::F32);
  const Tensor right = builder.cast(y > half, DType::F32);
  return builder.reshape(builder.cast(said == right, DType::F32), {-1});
}

Result<Graph> build_step(const Sequential& model, const Plan& plan, Labels labels, int64_t batch,
                         bool trains) {
  Builder builder(trains ? "train" : "evaluate");
  const Tensor x = input_of(builder, model, batch);
  const Tensor y = labels_of(builder, labels, batch, model.output_shape()[0]);
  const Tensor rows = builder.input("rows", DType::I32, {});
  const Tensor present = builder.cast(builder.iota({batch}, 0) < rows, DType::F32);

  const Mode mode = trains ? Mode{true, present} : Mode{};
  const Outputs outputs = forward(builder, model, x, mode);
  const Tensor scored = plan.fused ? outputs.before_activation : outputs.output;
  const Tensor mean_weights = present / maximum(builder.cast(rows, DType::F32), builder.scalar(1));
  const Tensor loss = sum(row_losses(plan.loss->kind, scored, y) * mean_weights, {0});
  builder.output("loss", loss);
  builder.output("correct", sum(row_hits(builder, outputs.output, y) * present, {0}));

  if (trains) {
    const std::vector<Variable> weights = trainable(weights_of(model));
    std::vector<Tensor> states;
    for (const Variable& weight : weights) {
      states.push_back(builder.state(weight.name, DType::F32, weight.shape));
    }
    add_optimizer_step(builder, *plan.optimizer, weights, grad::gradients(builder, loss, states));
  }
  return std::move(builder).finish();
}

Result<Graph> build_predict(const Sequential& model, std::string name, int64_t batch) {
  Builder builder(std::move(name));
  builder.output("y", forward(builder, model, input_of(builder, model, batch)).output);
  return std::move(builder).finish();
}

}  // namespace

Result<graph::Program> build_program(const Sequential& model, const TrainingOptions& options) {
  ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  graph::Program program;
  const auto add = [&program](Result<Graph> entry) -> Status {
    if (!entry) return std::unexpected(entry.error());
    program.entries.push_back(std::move(*entry));
    return {};
  };
  if (plan.optimizer) {
    TRY(add(build_step(model, plan, options.labels, options.batch.train, true)));
  }
  if (plan.loss) {
    TRY(add(build_step(model, plan, options.labels, options.batch.evaluate, false)));
  }
  TRY(add(build_predict(model, "predict", options.batch.predict)));
  TRY(add(build_predict(model, "predict_1", 1)));
  return program;
}

Result<std::vector<Variable>> variables(const Sequential& model, const TrainingOptions& options) {
  ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  std::vector<Variable> all = weights_of(model);
  if (plan.optimizer) {
    for (Variable& variable : optimizer_variables(*plan.optimizer, trainable(all))) {
      all.push_back(std::move(variable));
    }
  }
  return all;
}

}  // namespace lathe::nn
