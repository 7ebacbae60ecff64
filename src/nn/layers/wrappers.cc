#include "lathe/nn/layers/wrappers.h"

#include <algorithm>

#include "lathe/base/check.h"
#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/nn/layers/recurrent.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::nn {
namespace {

constexpr std::string_view kMergeModes[] = {"concat", "sum", "mul", "ave", "none"};
constexpr std::string_view kDirections[] = {"forward", "backward"};

class Bidirectional final : public Layer {
 public:
  explicit Bidirectional(BidirectionalOptions options)
      : Layer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "Bidirectional"; }

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const override {
    if (options_.layer == nullptr || options_.layer->recurrent() == nullptr) {
      return fail("layer must be a recurrent layer");
    }
    if (std::ranges::find(kMergeModes, options_.merge_mode) == std::end(kMergeModes)) {
      return fail(unknown_name("mergeMode", options_.merge_mode, kMergeModes));
    }
    const size_t states = inputs.size() - 1;
    if (states % 2 != 0) {
      return fail(concat("expects initial states for both directions, got ", states));
    }
    LATHE_ASSIGN_OR_RETURN(const LayerPlan one, layer().plan_call(inputs.first(1 + states / 2)));
    if (!std::ranges::equal(inputs.subspan(1, states / 2), inputs.subspan(1 + states / 2))) {
      return fail("the initial states of both directions must have the same shapes");
    }
    LayerPlan plan{{one.outputs[0]}, {}};
    if (options_.merge_mode == "concat") plan.outputs[0].back() *= 2;
    if (options_.merge_mode == "none") plan.outputs.push_back(one.outputs[0]);
    const std::string& name = options_.layer->name();
    const std::string_view inner = name.empty() ? options_.layer->class_name() : name;
    for (int direction = 0; direction < 2; ++direction) {
      plan.outputs.insert(plan.outputs.end(), one.outputs.begin() + 1, one.outputs.end());
      for (Weight weight : one.weights) {
        weight.name = concat(kDirections[direction], '_', inner, '/', weight.name);
        weight.trainable = weight.trainable && options_.layer->trainable();
        plan.weights.push_back(std::move(weight));
      }
      for (const LayerState& state : one.states) {
        plan.states.push_back({concat(kDirections[direction], '/', state.name), state.shape});
      }
    }
    return plan;
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const override {
    const bool backwards = layer().sequence().go_backwards;
    const size_t states = (inputs.size() - 1) / 2, half = weights.size() / 2;
    std::vector<Tensor> second_inputs = {inputs[0]};
    second_inputs.insert(second_inputs.end(),
                         inputs.begin() + 1 + static_cast<std::ptrdiff_t>(states), inputs.end());
    const std::vector<Tensor> first =
        layer().run(inputs.first(1 + states), weights.first(half), backwards, "forward/", context);
    const std::vector<Tensor> second =
        layer().run(second_inputs, weights.subspan(half), !backwards, "backward/", context);
    if (!first[0].valid() || !second[0].valid()) return {};
    const bool sequences = layer().sequence().return_sequences;
    std::vector<Tensor> outputs =
        merged(first[0], sequences ? ops::reverse(second[0], std::vector<int>{1}) : second[0]);
    context.output_masks.assign(outputs.size() + 2 * (first.size() - 1), Tensor{});
    const Tensor mask = context.masks.empty() ? Tensor{} : context.masks[0];
    for (size_t k = 0; sequences && k < outputs.size(); ++k) context.output_masks[k] = mask;
    outputs.insert(outputs.end(), first.begin() + 1, first.end());
    outputs.insert(outputs.end(), second.begin() + 1, second.end());
    return outputs;
  }

 private:
  const RecurrentLayer& layer() const { return *options_.layer->recurrent(); }

  std::vector<Tensor> merged(Tensor first, Tensor second) const {
    const std::string& mode = options_.merge_mode;
    if (mode == "none") return {first, second};
    if (mode == "concat") return {ops::concatenate({first, second}, -1)};
    if (mode == "mul") return {first * second};
    const Tensor sum = first + second;
    return {mode == "ave" ? sum * 0.5f : sum};
  }

  BidirectionalOptions options_;
};

class TimeDistributed final : public UnaryLayer {
 public:
  explicit TimeDistributed(TimeDistributedOptions options)
      : UnaryLayer(options), layer_(std::move(options.layer)) {}

  std::string_view class_name() const override { return "TimeDistributed"; }
  bool supports_masking() const override { return true; }

  Result<UnaryPlan> plan(const Shape& input) const override {
    if (layer_ == nullptr) return fail("layer is missing");
    if (input.size() < 2) return fail(concat("expects [time, …], got ", bracketed(input)));
    const Shape inner(input.begin() + 1, input.end());
    LATHE_TRY(find_activation(layer_->activation()));
    LATHE_ASSIGN_OR_RETURN(LayerPlan plan, layer_->plan_call({&inner, 1}));
    if (plan.outputs.size() != 1) {
      return fail(concat("the layer returns ", plan.outputs.size(), " outputs, expected one"));
    }
    if (!plan.states.empty()) return fail("the layer is stateful, which TimeDistributed is not");
    for (Weight& weight : plan.weights) weight.trainable = weight.trainable && layer_->trainable();
    UnaryPlan unary{std::move(plan.outputs[0]), std::move(plan.weights)};
    insert_at(unary.output, 0, input[0]);
    return unary;
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context& context) const override {
    graph::Builder& builder = *x.builder;
    const std::vector<bool> follows = following(x);
    if (context.trains() && context.trainable() && std::ranges::count(follows, true) > 0) {
      return step_by_step(x, weights, follows, context);
    }
    const int64_t batch = x.shape()[0], steps = x.shape()[1];
    Shape shape(x.shape().begin() + 1, x.shape().end());
    shape[0] = batch * steps;
    Context inner = context.within(layer_->name(), layer_->trainable());
    const Tensor y = result(builder.reshape(x, shape), weights, inner);
    if (!y.valid()) return y;
    shape = y.shape();
    shape[0] = steps;
    insert_at(shape, 0, batch);
    return builder.reshape(y, shape);
  }

 private:
  Tensor result(Tensor x, std::span<const Tensor> weights, Context& context) const {
    const auto activation = find_activation(layer_->activation());
    LATHE_CHECK(activation);
    return apply_activation(*activation, layer_->build_call({&x, 1}, weights, context)[0]);
  }

  // For each weight whether the layer changes it while it trains, as the moving mean of
  // BatchNormalization.
  std::vector<bool> following(Tensor x) const {
    const Shape example(x.shape().begin() + 2, x.shape().end());
    const auto plan = layer_->plan_call({&example, 1});
    std::vector<bool> follows;
    for (const Weight& weight : plan ? plan->weights : std::vector<Weight>{}) {
      follows.push_back(!weight.trainable && layer_->trainable());
    }
    return follows;
  }

  // Each step changes these weights before the next.
  Tensor step_by_step(Tensor x, std::span<const Tensor> weights, const std::vector<bool>& follows,
                      Context& context) const {
    graph::Builder& builder = *x.builder;
    const int64_t steps = x.shape()[1];
    std::vector<Tensor> initial, invariants = {context.present()};
    for (size_t k = 0; k < weights.size(); ++k) {
      if (follows[k]) initial.push_back(context.current(weights[k]));
      if (!follows[k]) invariants.push_back(weights[k]);
    }
    const Tensor slices[] = {exchange_axes(x)};
    const ops::ScanResult all = ops::scan(
        builder, {steps, false}, initial, slices, invariants, [&](const ops::ScanStep& each) {
          std::vector<Tensor> step_weights;
          for (size_t k = 0, state = 0, invariant = 1; k < weights.size(); ++k) {
            step_weights.push_back(follows[k] ? each.carried[state++]
                                              : each.invariants[invariant++]);
          }
          BuildState build{.trains = true, .present = each.invariants[0]};
          Context inner(build, context.layer(), true);
          ops::ScanResult step{{}, {result(each.slices[0], step_weights, inner)}};
          for (const Tensor& state : each.carried) step.carried.push_back(inner.current(state));
          if (!build.losses.empty()) {
            each.builder.error(
                "timeDistributed: no activityRegularizer together with batch statistics");
          }
          return step;
        });
    if (!builder.ok()) return {&builder, {}};
    for (size_t k = 0, state = 0; k < weights.size(); ++k) {
      if (follows[k]) context.update(weights[k], all.carried[state++]);
    }
    return exchange_axes(all.stacked[0]);
  }

  LayerPtr layer_;
};

}  // namespace

LayerPtr bidirectional(BidirectionalOptions options) {
  return std::make_shared<Bidirectional>(std::move(options));
}
LayerPtr time_distributed(TimeDistributedOptions options) {
  return std::make_shared<TimeDistributed>(std::move(options));
}

}  // namespace lathe::nn
