#include "lathe/nn/training/training.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lathe/base/insert.h"
#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/grad/gradient.h"
#include "lathe/nn/regularizer.h"
#include "lathe/nn/training/optimizer.h"
#include "lathe/nn/training/totals.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/nn/losses.h"
#include "lathe/ops/nn/metrics.h"

namespace lathe::nn {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;

// What nodes are part of that belong to no layer; layers cannot be called so.
constexpr std::string_view kLossPart = "(loss)";

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
  std::optional<Chosen<RegularizerKind>> regularizer;  // of the entire model
  bool train_metrics = true, test_metrics = true;
  bool row_weights = false, check_numerics = false, is_stateful = false;
  bool timing = false, equations = false, standalone = false;
  BatchSizes batches_in_memory;
};

Shape with_batch(Shape shape, int64_t batch) {
  insert_at(shape, 0, batch);
  return shape;
}

std::string suffix_of(const std::vector<Port>& ports, size_t i) {
  return ports.size() == 1 ? std::string() : concat('/', ports[i].name);
}

Status check_count(std::string_view what, std::string_view entry, int64_t count) {
  if (count >= 1 && count <= INT32_MAX) return {};
  return fail(concat(what, " of ", entry, " must be a positive integer, got ", count));
}

Status check_batch(const Model& model, std::string_view entry, int64_t batch) {
  LATHE_TRY(check_count("batch size", entry, batch));
  const auto check = [&](ModelValue value) {
    return check_shape(concat(entry, ": ", model.description(value)),
                       with_batch(model.shape(value), batch));
  };
  for (const Port& input : model.inputs()) LATHE_TRY(check(input.value));
  for (const Call& call : model.calls()) {
    for (const ModelValue output : call.outputs) LATHE_TRY(check(output));
  }
  return {};
}

// One value for all outputs, or one for each.
Status check_each(const Model& model, std::string_view what, size_t count) {
  if (count == 1 || count == model.outputs().size()) return {};
  return fail(concat("the model has ", model.outputs().size(), " outputs, but there are ", count,
                     " ", what));
}

Result<std::vector<Metric>> metrics_of(const Target& target, const std::vector<Choice>& choices,
                                       std::string_view where, ActivationKind last,
                                       bool is_row_of_one) {
  std::vector<Metric> metrics;
  for (Choice choice : choices) {
    const bool is_fitting = is_crossentropy(choice.name);
    if (is_fitting) choice.name = fitting_crossentropy(target.loss, is_row_of_one);
    LATHE_ASSIGN_OR_RETURN(Metric metric, fit_metric(choice, &target.loss, where, last));
    if (is_fitting) metric.name = "ce";
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
  LATHE_TRY(check_each(model, "losses", options.loss.values.size()));
  LATHE_TRY(check_each(model, "kinds of labels", options.labels.values.size()));
  LATHE_TRY(check_each(model, "loss weights", options.loss_weights.values.size()));
  if (!options.metrics.empty()) {
    LATHE_TRY(check_each(model, "lists of metrics", options.metrics.size()));
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
    const std::string where = concat("the ", model.description(value));
    const Chosen<ActivationKind>* activation = model.last_activation(output);
    const ActivationKind last = activation == nullptr ? ActivationKind::Linear : activation->kind;
    LATHE_ASSIGN_OR_RETURN(target.loss, fit_loss(options.loss[output], where, last));
    if (!options.metrics.empty()) {
      const auto& choices = options.metrics[options.metrics.size() == 1 ? 0 : output];
      const Shape shape = model.shape(value);
      const bool is_row_of_one = !shape.empty() && shape.back() == 1;
      LATHE_ASSIGN_OR_RETURN(target.metrics,
                             metrics_of(target, choices, where, last, is_row_of_one));
    }
    if (model.shape(value).empty()) {
      return fail(concat("a loss needs an output of at least one axis per example, but the ",
                         model.description(value), " has none"));
    }
    if (!std::isfinite(target.weight)) {
      return fail(concat("a loss weight must be a finite number, got ", target.weight));
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

// A model with stateful layers has a fixed batch size.
Status check_fixed_batch(const Model& model, const TrainingOptions& options) {
  const int64_t rows = model.batch();
  if (rows < 1) {
    return fail(
        "a stateful layer needs the size of the batches: the batchInputShape of the first "
        "layer, or the batchShape of an input");
  }
  for (const int64_t size : {options.batch.train, options.batch.evaluate, options.batch.predict}) {
    if (size == rows) continue;
    return fail(concat("a stateful model expects batches of ", rows, " rows, not of ", size));
  }
  return {};
}

Result<Plan> check(const Model& model, const TrainingOptions& options) {
  LATHE_TRY(model.status());
  const auto check_padding = [&model](std::string_view entry, int64_t batch,
                                      int64_t in_memory) -> Status {
    LATHE_TRY(check_batch(model, entry, batch));
    LATHE_TRY(check_count("the number of batches in memory", entry, in_memory));
    return check_batch(model, entry, batch * in_memory);
  };
  const BatchSizes &batch = options.batch, &in_memory = options.batches_in_memory;
  LATHE_TRY(check_padding("predict", batch.predict, in_memory.predict));
  Plan plan;
  plan.timing = options.timing;
  plan.equations = options.equations;
  plan.standalone = options.standalone;
  plan.batches_in_memory = in_memory;
  plan.is_stateful = !model.states().empty();
  if (plan.is_stateful) LATHE_TRY(check_fixed_batch(model, options));
  LATHE_ASSIGN_OR_RETURN(plan.targets, targets_of(model, options));
  if (plan.targets.empty()) {
    if (!options.optimizer.empty()) return fail("an optimizer needs a loss");
    return plan;
  }
  plan.row_weights = options.row_weights;
  plan.train_metrics = options.train_metrics;
  plan.test_metrics = options.test_metrics;
  if (!options.regularizer.empty()) {
    LATHE_ASSIGN_OR_RETURN(plan.regularizer, find_regularizer(options.regularizer));
  }
  plan.check_numerics = options.check_numerics;
  LATHE_TRY(check_padding("evaluate", batch.evaluate, in_memory.evaluate));
  if (!options.optimizer.empty()) {
    LATHE_ASSIGN_OR_RETURN(plan.optimizer, find_optimizer(options.optimizer));
    LATHE_TRY(check_optimizer(*plan.optimizer));
    LATHE_TRY(check_padding("train", batch.train, in_memory.train));
    if (plan.standalone && std::ranges::none_of(model.weights(), &Variable::trainable)) {
      return fail(
          "the model has no trainable weights, so there is nothing for an optimizer to do: leave "
          "it out, or unfreeze a layer");
    }
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

std::vector<Tensor> forward(Builder& builder, const Model& model, std::span<const Tensor> inputs,
                            BuildState& build) {
  Context context(build, "", true);
  return model.build(inputs, states_of(builder, model.weights()), context);
}

// The inputs of a step, of which the batch may be some rows only.
class Rows {
 public:
  Rows(Builder& builder, int64_t batch, int64_t batches_in_memory)
      : builder_(builder), in_memory_(batch * batches_in_memory) {
    if (batches_in_memory > 1) order_ = builder.input("order", DType::I32, {batch});
  }

  // `shape` is that of one example.
  Tensor input(const std::string& name, DType dtype, const Shape& shape) {
    const Tensor all = builder_.input(name, dtype, with_batch(shape, in_memory_));
    return order_.valid() ? ops::gather(all, order_, 0) : all;
  }

 private:
  Builder& builder_;
  const int64_t in_memory_;
  Tensor order_;
};

// What an output should be, and how much each row counts.
struct Truth {
  Tensor labels, weights;
};

// Labels as f32 of the shape of the output, whatever their form.
Tensor labels_of(Rows& rows, const Model& model, const Target& target) {
  const Shape& output = model.shape(model.outputs()[target.output].value);
  const std::string name = concat('y', target.suffix);
  if (target.labels == Labels::Dense) return rows.input(name, DType::F32, output);
  const Tensor class_ids = rows.input(name, DType::I32, {output.begin(), output.end() - 1});
  if (!class_ids.valid()) return class_ids;
  Shape shape = class_ids.shape();
  shape.push_back(output.back());
  const Tensor classes = class_ids.builder->reshape(class_ids, {-1});
  return class_ids.builder->reshape(ops::one_hot(classes, static_cast<int>(output.back())), shape);
}

std::vector<Tensor> inputs_of(Rows& rows, const Model& model) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    inputs.push_back(rows.input(concat('x', suffix_of(model.inputs(), i)), DType::F32,
                                model.shape(model.inputs()[i].value)));
  }
  return inputs;
}

// [n, …] -> [n], the mean of each row.
Tensor row_means(Tensor x) {
  if (!x.valid() || x.rank() == 1) return x;
  return mean(x.builder->reshape(x, {x.shape().front(), -1}), {1});
}

std::string metric_output(const Target& target, const Metric& metric) {
  return concat("metric", target.suffix, '/', metric.name);
}

// What the regularizers of the weights add to the loss of training.
void add_penalties(Builder& builder, const Model& model, const Plan& plan, BuildState& build) {
  for (const Variable& weight : model.weights()) {
    if (!weight.trainable) continue;
    const Tensor state = builder.state(weight.name, DType::F32, weight.shape);
    if (weight.regularizer) build.losses.push_back(penalty(*weight.regularizer, state));
    if (plan.regularizer && weight.shape.size() > 1) {
      build.losses.push_back(penalty(*plan.regularizer, state));
    }
  }
}

// The outputs of the entry for loss and metrics; returns the loss.
Tensor add_scores(Builder& builder, const Plan& plan, std::span<const Truth> truths,
                  std::span<const Tensor> outputs, const BuildState& build, Tensor rows,
                  Tensor present) {
  const Tensor mean_weights = present / maximum(builder.cast(rows, DType::F32), builder.scalar(1));
  Tensor loss;
  const auto add = [&loss](Tensor part) { loss = loss.builder == nullptr ? part : loss + part; };
  for (size_t i = 0; i < plan.targets.size(); ++i) {
    const Target& target = plan.targets[i];
    const Tensor y = truths[i].labels, output = outputs[target.output];
    if (!output.valid()) return output;
    builder.begin_equation("loss");
    const auto before = build.before_activation.find(output.value);
    const Tensor logits = before == build.before_activation.end() ? output : before->second;
    Tensor each = row_means(row_losses(target.loss, target.loss.from_logits ? logits : output, y));
    if (plan.row_weights) each = each * truths[i].weights;
    // Padding rows contribute nothing, even if infinite.
    each = select(present > zero(present), each, zero(each));
    const Tensor part = sum(each * mean_weights, {0});
    add(target.weight == 1 ? part : part * target.weight);
    if (!target.suffix.empty()) builder.output(concat("loss", target.suffix), part);
    if (!(build.trains ? plan.train_metrics : plan.test_metrics)) continue;
    builder.begin_equation("metrics");
    builder.output(concat("correct", target.suffix),
                   sum(row_means(ops::row_hits(output, y)) * present, {0}));
    for (const Metric& metric : target.metrics) {
      builder.output(metric_output(target, metric),
                     metric_sums(metric, output, logits, y, present));
    }
  }
  for (const Tensor extra : build.losses) add(extra);
  builder.output("loss", loss);
  return loss;
}

// The index of the first layer with a result that is not finite, else -1.
void add_watch(Builder& builder, const BuildState& build) {
  const auto number = [&builder](int64_t value) {
    return builder.full({}, scalar::Number::of(static_cast<int32_t>(value)));
  };
  Tensor first = number(-1);
  for (size_t i = build.finite_results.size(); i-- > 0;) {
    first = select(build.finite_results[i].second, first, number(static_cast<int64_t>(i)));
  }
  builder.output("not_finite", first);
}

void add_updates(Builder& builder, const BuildState& build) {
  for (const auto& [state, value] : build.updates) builder.update({&builder, state}, value);
}

Result<Graph> build_step(const Model& model, const Plan& plan, int64_t batch, bool trains) {
  Builder builder(trains ? "train" : "evaluate");
  if (plan.timing) builder.record_parts(plan.equations);
  const BatchSizes& in_memory = plan.batches_in_memory;
  Rows examples(builder, batch, trains ? in_memory.train : in_memory.evaluate);
  const std::vector<Tensor> inputs = inputs_of(examples, model);
  std::vector<Truth> truths;
  for (const Target& target : plan.targets) {
    Truth& truth = truths.emplace_back(labels_of(examples, model, target));
    if (!plan.row_weights) continue;
    truth.weights = examples.input(concat("weights", target.suffix), DType::F32, {});
  }
  const Tensor rows = builder.input("rows", DType::I32, {});
  const Tensor present = builder.cast(builder.iota({batch}, 0) < rows, DType::F32);

  const StepNumbers numbers = trains ? step_numbers(builder, *plan.optimizer) : StepNumbers();
  BuildState build{.trains = trains,
                   .seed = model.seed(),
                   .present = trains ? present : Tensor{},
                   .checks_finite = plan.check_numerics,
                   .advances_seed = plan.standalone};
  const std::vector<Tensor> outputs = forward(builder, model, inputs, build);
  if (!builder.ok()) return std::move(builder).finish();
  builder.begin_part("forward", kLossPart);
  if (trains) add_penalties(builder, model, plan, build);
  const Tensor loss = add_scores(builder, plan, truths, outputs, build, rows, present);
  if (plan.check_numerics) add_watch(builder, build);
  if (plan.standalone) add_totals(builder, rows);
  add_updates(builder, build);
  if (trains) {
    const std::vector<Variable> weights = trainable(model.weights());
    add_optimizer_step(builder, *plan.optimizer, numbers, weights,
                       grad::gradients(builder, loss, states_of(builder, weights)));
  }
  return std::move(builder).finish();
}

Result<Graph> build_predict(const Model& model, const Plan& plan, std::string name, int64_t batch,
                            int64_t batches_in_memory) {
  Builder builder(std::move(name));
  if (plan.timing) builder.record_parts(plan.equations);
  BuildState build;
  Rows examples(builder, batch, batches_in_memory);
  const auto outputs = forward(builder, model, inputs_of(examples, model), build);
  if (!builder.ok()) return std::move(builder).finish();
  for (size_t i = 0; i < outputs.size(); ++i) {
    builder.output(concat('y', suffix_of(model.outputs(), i)), outputs[i]);
  }
  add_updates(builder, build);
  return std::move(builder).finish();
}

std::vector<MetricOutput> metric_outputs_of(const Model& model, const Plan& plan) {
  std::vector<MetricOutput> result;
  for (const Target& target : plan.targets) {
    const std::string& output = model.outputs()[target.output].name;
    const std::string prefix = target.suffix.empty() ? "" : concat(output, '_');
    for (const Metric& metric : target.metrics) {
      result.push_back({metric_output(target, metric), prefix + metric.name, metric.final});
    }
  }
  return result;
}

// Metadata for readers of the outputs of the entries.
std::string notes_of(const Model& model, const Plan& plan) {
  JsonWriter notes;
  notes.key("metrics").begin_array();
  for (const MetricOutput& metric : metric_outputs_of(model, plan)) {
    notes.begin_object().member("output", metric.output).member("name", metric.name);
    notes.member("final", text(metric.final)).end_object();
  }
  notes.end_array();
  notes.member("watched", plan.check_numerics ? watched_layers(model) : std::vector<std::string>());
  return notes.release();
}

}  // namespace

Result<graph::Program> build_program(const Model& model, const TrainingOptions& options) {
  LATHE_ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  graph::Program program;
  const auto add = [&program](Result<Graph> entry) -> Status {
    if (!entry) return std::unexpected(entry.error());
    program.entries.push_back(std::move(*entry));
    return {};
  };
  const auto add_step = [&](int64_t batch, bool trains) -> Status {
    LATHE_TRY(add(build_step(model, plan, batch, trains)));
    return plan.standalone ? add(build_reset(program.entries.back())) : Status{};
  };
  if (plan.optimizer) LATHE_TRY(add_step(options.batch.train, true));
  if (!plan.targets.empty()) LATHE_TRY(add_step(options.batch.evaluate, false));
  LATHE_TRY(add(build_predict(model, plan, "predict", options.batch.predict,
                              plan.batches_in_memory.predict)));
  if (!plan.is_stateful) LATHE_TRY(add(build_predict(model, plan, "predict_1", 1, 1)));
  program.notes = notes_of(model, plan);
  return program;
}

Result<std::vector<MetricOutput>> metric_outputs(const Model& model,
                                                 const TrainingOptions& options) {
  LATHE_ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  return metric_outputs_of(model, plan);
}

std::vector<std::string> watched_layers(const Model& model) {
  std::vector<std::string> names;
  for (const Call& call : model.calls()) {
    const BuiltLayer& built = model.layers()[call.layer];
    if (const Model* inner = built.layer->model()) {
      for (const std::string& name : watched_layers(*inner)) {
        names.push_back(concat(built.name, '/', name));
      }
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) names.push_back(built.name);
  }
  return names;
}

Result<std::vector<Variable>> variables(const Model& model, const TrainingOptions& options) {
  LATHE_ASSIGN_OR_RETURN(const Plan plan, check(model, options));
  std::vector<Variable> all = model.weights();
  for (const LayerState& state : model.states()) {
    all.push_back({concat(kStatesPrefix, state.name),
                   with_batch(state.shape, model.batch()),
                   {InitializerKind::Zeros, {}}});
  }
  if (plan.optimizer) {
    for (Variable& variable : optimizer_variables(*plan.optimizer, trainable(all))) {
      all.push_back(std::move(variable));
    }
  }
  int64_t bytes = 0;
  for (const Variable& each : all) bytes += 4 * graph::element_count(each.shape);
  if (bytes <= int64_t{1} << 32) return all;
  return fail(concat("the weights and the states of layers and optimizer have ", bytes >> 20,
                     " MiB; a module can address 4096 MiB"));
}

}  // namespace lathe::nn
