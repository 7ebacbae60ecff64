#include "nn/training.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "grad/gradient.h"
#include "nn/optimizer.h"
#include "nn/regularizer.h"
#include "ops/losses.h"
#include "ops/metrics.h"

namespace lathe::nn {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;

// An output that the loss counts.
struct Target {
  size_t output;
  std::string suffix;  // "/NAME" where the model has several outputs
  Loss loss;
  Labels labels;
  float weight;
  std::vector<Metric> metrics;
};

// The options with every name resolved and checked against the model.
struct Plan {
  std::vector<Target> targets;
  std::optional<Chosen<OptimizerKind>> optimizer;
  bool row_weights = false, check_numerics = false, keeps_states = false;
};

Shape with_batch(Shape shape, int64_t batch) {
  shape.insert(shape.begin(), batch);
  return shape;
}

std::string suffix_of(const std::vector<Port>& ports, size_t i) {
  return ports.size() == 1 ? std::string() : concat('/', ports[i].name);
}

Status check_batch(const Model& model, std::string_view entry, int64_t batch) {
  if (batch < 1 || batch > INT32_MAX) {
    return fail(concat("batch size of ", entry, " must be a positive integer, got ", batch));
  }
  const auto check = [&](ModelValue value) {
    return check_shape(concat(entry, ": ", model.spelled(value)),
                       with_batch(model.shape(value), batch));
  };
  for (const Port& input : model.inputs()) TRY(check(input.value));
  for (const Call& call : model.calls()) {
    for (const ModelValue output : call.outputs) TRY(check(output));
  }
  return {};
}

// One value for all outputs, or one for each.
Status check_count(const Model& model, std::string_view what, size_t count) {
  if (count == 1 || count == model.outputs().size()) return {};
  return fail(concat("the model has ", model.outputs().size(), " outputs, but there are ", count,
                     " ", what));
}

Result<std::vector<Metric>> metrics_of(const Target& target, const std::vector<Choice>& choices,
                                       std::string_view where, ActivationKind last) {
  std::vector<Metric> metrics;
  for (const Choice& choice : choices) {
    ASSIGN_OR_RETURN(Metric metric, fit_metric(choice, &target.loss, where, last));
    if (std::ranges::find(metrics, metric.name, &Metric::name) != metrics.end()) {
      return fail(concat("two metrics are called \"", metric.name, '"'));
    }
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

Result<std::vector<Target>> targets_of(const Model& model, const TrainingOptions& options) {
  std::vector<Target> targets;
  if (options.loss.values.empty()) return targets;
  TRY(check_count(model, "losses", options.loss.values.size()));
  TRY(check_count(model, "kinds of labels", options.labels.values.size()));
  TRY(check_count(model, "loss weights", options.loss_weights.values.size()));
  if (!options.metrics.empty()) {
    TRY(check_count(model, "lists of metrics", options.metrics.size()));
  }
  for (size_t output = 0; output < model.outputs().size(); ++output) {
    if (options.loss[output].empty()) continue;
    Target target{output,
                  suffix_of(model.outputs(), output),
                  {},
                  options.labels[output],
                  static_cast<float>(options.loss_weights[output]),
                  {}};
    const ModelValue value = model.outputs()[output].value;
    const std::string where = concat("the ", model.spelled(value));
    const Chosen<ActivationKind>* activation = model.last_activation(output);
    const ActivationKind last = activation == nullptr ? ActivationKind::Linear : activation->kind;
    ASSIGN_OR_RETURN(target.loss, fit_loss(options.loss[output], where, last));
    if (!options.metrics.empty()) {
      const auto& choices = options.metrics[options.metrics.size() == 1 ? 0 : output];
      ASSIGN_OR_RETURN(target.metrics, metrics_of(target, choices, where, last));
    }
    if (model.shape(value).empty()) {
      return fail(concat("a loss needs an output of at least one axis per example, but the ",
                         model.spelled(value), " has none"));
    }
    if (!std::isfinite(target.weight)) {
      return fail(concat("a loss weight must be a finite number, got ", target.weight));
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

// A model whose layers keep states has one size of batches.
Status check_fixed_batch(const Model& model, const TrainingOptions& options) {
  const int64_t rows = model.batch();
  if (rows < 1) {
    return fail(
        "a stateful layer needs the size of the batches: the batchInputShape of the first "
        "layer, or the batchShape of an input");
  }
  for (const int64_t size : {options.batch.train, options.batch.evaluate, options.batch.predict}) {
    if (size == rows) continue;
    return fail(concat("a stateful model takes batches of ", rows, " rows, not of ", size));
  }
  return {};
}

Result<Plan> check(const Model& model, const TrainingOptions& options) {
  TRY(model.status());
  TRY(check_batch(model, "predict", options.batch.predict));
  Plan plan;
  plan.keeps_states = !model.states().empty();
  if (plan.keeps_states) TRY(check_fixed_batch(model, options));
  ASSIGN_OR_RETURN(plan.targets, targets_of(model, options));
  if (plan.targets.empty()) {
    if (!options.optimizer.empty()) return fail("an optimizer needs a loss");
    return plan;
  }
  plan.row_weights = options.row_weights;
  plan.check_numerics = options.check_numerics;
  TRY(check_batch(model, "evaluate", options.batch.evaluate));
  if (!options.optimizer.empty()) {
    ASSIGN_OR_RETURN(plan.optimizer, find_optimizer(options.optimizer));
    TRY(check_optimizer(*plan.optimizer));
    TRY(check_batch(model, "train", options.batch.train));
  }
  return plan;
}

std::vector<Variable> trainable(std::vector<Variable> weights) {
  std::erase_if(weights, [](const Variable& weight) { return !weight.trainable; });
  return weights;
}

std::vector<Tensor> states_of(Builder& builder, const std::vector<Variable>& variables) {
  std::vector<Tensor> states;
  for (const Variable& variable : variables) {
    states.push_back(builder.state(variable.name, DType::F32, variable.shape));
  }
  return states;
}

std::vector<Tensor> inputs_of(Builder& builder, const Model& model, int64_t batch) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    inputs.push_back(builder.input(concat('x', suffix_of(model.inputs(), i)), DType::F32,
                                   with_batch(model.shape(model.inputs()[i].value), batch)));
  }
  return inputs;
}

std::vector<Tensor> forward(Builder& builder, const Model& model, std::span<const Tensor> inputs,
                            Trace& trace) {
  Context context(trace, "", true);
  return model.build(inputs, states_of(builder, model.weights()), context);
}

// Labels as f32 of the shape of the output, whatever their form.
Tensor labels_of(Builder& builder, const Model& model, const Target& target, int64_t batch) {
  const Shape output = with_batch(model.shape(model.outputs()[target.output].value), batch);
  const std::string name = concat('y', target.suffix);
  if (target.labels == Labels::Dense) return builder.input(name, DType::F32, output);
  const Shape places(output.begin(), output.end() - 1);
  const Tensor classes = builder.reshape(builder.input(name, DType::I32, places), {-1});
  return builder.reshape(ops::one_hot(classes, static_cast<int>(output.back())), output);
}

// [n, …] -> [n], the mean of each row.
Tensor row_means(Tensor x) {
  if (!x.valid() || x.rank() == 1) return x;
  return mean(x.builder->reshape(x, {x.shape().front(), -1}), {1});
}

std::string metric_output(const Target& target, const Metric& metric) {
  return concat("metric", target.suffix, '/', metric.name);
}

// What the regularisers of the weights add to the loss.
void add_penalties(Builder& builder, const Model& model, Trace& trace) {
  for (const Variable& weight : model.weights()) {
    if (!weight.regularizer || !weight.trainable) continue;
    const Tensor state = builder.state(weight.name, DType::F32, weight.shape);
    trace.losses.push_back(penalty(*weight.regularizer, state));
  }
}

// The outputs of the entry that say how it went; gives the loss.
Tensor add_scores(Builder& builder, const Plan& plan, std::span<const Tensor> labels,
                  std::span<const Tensor> outputs, const Trace& trace, Tensor rows,
                  Tensor present) {
  const Tensor mean_weights = present / maximum(builder.cast(rows, DType::F32), builder.scalar(1));
  Tensor loss;
  const auto add = [&loss](Tensor part) { loss = loss.builder == nullptr ? part : loss + part; };
  for (size_t i = 0; i < plan.targets.size(); ++i) {
    const Target& target = plan.targets[i];
    const Tensor y = labels[i], output = outputs[target.output];
    if (!output.valid()) return output;
    const auto before = trace.before_activation.find(output.value);
    const Tensor logits = before == trace.before_activation.end() ? output : before->second;
    Tensor each = row_means(row_losses(target.loss, target.loss.takes_logits ? logits : output, y));
    if (plan.row_weights) {
      each = each * builder.input(concat("weights", target.suffix), DType::F32, present.shape());
    }
    const Tensor part = sum(each * mean_weights, {0});
    add(target.weight == 1 ? part : part * target.weight);
    if (!target.suffix.empty()) builder.output(concat("loss", target.suffix), part);
    builder.output(concat("correct", target.suffix),
                   sum(row_means(ops::row_hits(output, y)) * present, {0}));
    for (const Metric& metric : target.metrics) {
      builder.output(metric_output(target, metric),
                     metric_sums(metric, output, logits, y, present));
    }
  }
  for (const Tensor extra : trace.losses) add(extra);
  builder.output("loss", loss);
  return loss;
}

// The index of the first layer that gave a number that is not finite, else -1.
void add_watch(Builder& builder, const Trace& trace) {
  const auto number = [&builder](int64_t value) {
    return builder.full({}, scalar::Number::of(static_cast<int32_t>(value)));
  };
  Tensor first = number(-1);
  for (size_t i = trace.watched.size(); i-- > 0;) {
    first = select(trace.watched[i].second, first, number(static_cast<int64_t>(i)));
  }
  builder.output("not_finite", first);
}

void add_updates(Builder& builder, const Trace& trace) {
  for (const auto& [state, value] : trace.updates) builder.update({&builder, state}, value);
}

Result<Graph> build_step(const Model& model, const Plan& plan, int64_t batch, bool trains) {
  Builder builder(trains ? "train" : "evaluate");
  const std::vector<Tensor> inputs = inputs_of(builder, model, batch);
  std::vector<Tensor> labels;
  for (const Target& target : plan.targets) {
    labels.push_back(labels_of(builder, model, target, batch));
  }
  const Tensor rows = builder.input("rows", DType::I32, {});
  const Tensor present = builder.cast(builder.iota({batch}, 0) < rows, DType::F32);

  Trace trace{.trains = trains,
              .seed = model.seed(),
              .present = trains ? present : Tensor{},
              .watches = plan.check_numerics};
  const std::vector<Tensor> outputs = forward(builder, model, inputs, trace);
  if (!builder.ok()) return std::move(builder).finish();
  add_penalties(builder, model, trace);
  const Tensor loss = add_scores(builder, plan, labels, outputs, trace, rows, present);
  if (plan.check_numerics) add_watch(builder, trace);
  add_updates(builder, trace);
  if (trains) {
    const std::vector<Variable> weights = trainable(model.weights());
    add_optimizer_step(builder, *plan.optimizer, weights,
                       grad::gradients(builder, loss, states_of(builder, weights)));
  }
  return std::move(builder).finish();
}

Result<Graph> build_predict(const Model& model, std::string name, int64_t batch) {
  Builder builder(std::move(name));
  Trace trace;
  const auto outputs = forward(builder, model, inputs_of(builder, model, batch), trace);
  if (!builder.ok()) return std::move(builder).finish();
  for (size_t i = 0; i < outputs.size(); ++i) {
    builder.output(concat('y', suffix_of(model.outputs(), i)), outputs[i]);
  }
  add_updates(builder, trace);
  return std::move(builder).finish();
}

}  // namespace

Result<graph::Program> build_program(const Model& model, const TrainingOptions& options) {
  ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  graph::Program program;
  const auto add = [&program](Result<Graph> entry) -> Status {
    if (!entry) return std::unexpected(entry.error());
    program.entries.push_back(std::move(*entry));
    return {};
  };
  if (plan.optimizer) TRY(add(build_step(model, plan, options.batch.train, true)));
  if (!plan.targets.empty()) TRY(add(build_step(model, plan, options.batch.evaluate, false)));
  TRY(add(build_predict(model, "predict", options.batch.predict)));
  if (!plan.keeps_states) TRY(add(build_predict(model, "predict_1", 1)));
  return program;
}

Result<std::vector<MetricPlace>> metric_places(const Model& model, const TrainingOptions& options) {
  ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  std::vector<MetricPlace> places;
  for (const Target& target : plan.targets) {
    const std::string& output = model.outputs()[target.output].name;
    const std::string prefix = target.suffix.empty() ? "" : concat(output, '_');
    for (const Metric& metric : target.metrics) {
      places.push_back({metric_output(target, metric), prefix + metric.name, metric.final});
    }
  }
  return places;
}

std::vector<std::string> watched_layers(const Model& model) {
  std::vector<std::string> names;
  for (const Call& call : model.calls()) {
    const PlacedLayer& placed = model.layers()[call.layer];
    if (const Model* inner = placed.layer->model()) {
      for (const std::string& name : watched_layers(*inner)) {
        names.push_back(concat(placed.name, '/', name));
      }
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) names.push_back(placed.name);
  }
  return names;
}

Result<std::vector<Variable>> variables(const Model& model, const TrainingOptions& options) {
  ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  std::vector<Variable> all = model.weights();
  for (const KeptState& state : model.states()) {
    all.push_back({concat(kKeptStates, state.name),
                   with_batch(state.shape, model.batch()),
                   {InitializerKind::Zeros, {}}});
  }
  if (plan.optimizer) {
    for (Variable& variable : optimizer_variables(*plan.optimizer, trainable(all))) {
      all.push_back(std::move(variable));
    }
  }
  return all;
}

}  // namespace lathe::nn
