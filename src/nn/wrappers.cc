#include "nn/wrappers.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "nn/recurrent.h"
#include "ops/movement.h"

namespace lathe::nn {
namespace {

constexpr std::string_view kMergeModes[] = {"concat", "sum", "mul", "ave", "none"};

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
      return fail(concat("takes initial states for both directions, got ", states));
    }
    ASSIGN_OR_RETURN(const LayerPlan one, layer().plan_call(inputs.first(1 + states / 2)));
    if (!std::ranges::equal(inputs.subspan(1, states / 2), inputs.subspan(1 + states / 2))) {
      return fail("the initial states of both directions must have the same shapes");
    }
    LayerPlan plan{{one.outputs[0]}, {}};
    if (options_.merge_mode == "concat") plan.outputs[0].back() *= 2;
    if (options_.merge_mode == "none") plan.outputs.push_back(one.outputs[0]);
    for (int direction = 0; direction < 2; ++direction) {
      plan.outputs.insert(plan.outputs.end(), one.outputs.begin() + 1, one.outputs.end());
      for (Weight weight : one.weights) {
        weight.name = concat(direction == 0 ? "forward/" : "backward/", weight.name);
        weight.trainable = weight.trainable && options_.layer->trainable();
        plan.weights.push_back(std::move(weight));
      }
    }
    return plan;
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const override {
    const Tensor mask = context.masks.empty() ? Tensor{} : context.masks[0];
    const bool backwards = layer().sequence().go_backwards;
    const size_t states = (inputs.size() - 1) / 2, half = weights.size() / 2;
    std::vector<Tensor> behind = {inputs[0]};
    behind.insert(behind.end(), inputs.begin() + 1 + static_cast<std::ptrdiff_t>(states),
                  inputs.end());
    const std::vector<Tensor> first =
        layer().run(inputs.first(1 + states), weights.first(half), mask, backwards);
    const std::vector<Tensor> second = layer().run(behind, weights.subspan(half), mask, !backwards);
    if (!first[0].valid() || !second[0].valid()) return {};
    const bool sequences = layer().sequence().return_sequences;
    std::vector<Tensor> outputs =
        merged(first[0], sequences ? ops::reverse(second[0], std::vector<int>{1}) : second[0]);
    context.output_masks.assign(outputs.size() + 2 * (first.size() - 1), Tensor{});
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
    if (input.size() < 2) return fail(concat("wants [time, …], got ", bracketed(input)));
    const Shape inner(input.begin() + 1, input.end());
    TRY(find_activation(layer_->activation()));
    ASSIGN_OR_RETURN(LayerPlan plan, layer_->plan_call({&inner, 1}));
    if (plan.outputs.size() != 1) {
      return fail(concat("the layer gives ", plan.outputs.size(), " outputs, where one is wanted"));
    }
    for (Weight& weight : plan.weights) {
      if (!weight.trainable) {
        return fail(concat(layer_->class_name(), " keeps \"", weight.name,
                           "\" between the steps, which TimeDistributed does not support"));
      }
      weight.trainable = layer_->trainable();
    }
    UnaryPlan own{std::move(plan.outputs[0]), std::move(plan.weights)};
    own.output.insert(own.output.begin(), input[0]);
    return own;
  }

  Tensor build(Tensor x, std::span<const Tensor> weights, Context& context) const override {
    graph::Builder& builder = *x.builder;
    const int64_t batch = x.shape()[0], steps = x.shape()[1];
    Shape shape(x.shape().begin() + 1, x.shape().end());
    shape[0] = batch * steps;
    const Tensor rows[] = {builder.reshape(x, shape)};
    Context inner = context.within(layer_->name(), layer_->trainable());
    const auto activation = find_activation(layer_->activation());
    CHECK(activation);
    const Tensor y = apply_activation(*activation, layer_->build_call(rows, weights, inner)[0]);
    if (!y.valid()) return y;
    shape = y.shape();
    shape[0] = steps;
    shape.insert(shape.begin(), batch);
    return builder.reshape(y, shape);
  }

 private:
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
