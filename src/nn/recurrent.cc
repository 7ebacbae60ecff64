#include "nn/recurrent.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/text.h"
#include "ops/movement.h"
#include "ops/recurrence.h"

namespace lathe::nn {
namespace {

// Exchanges the first two axes: of batch and time.
Tensor exchanged(Tensor x) {
  std::vector<int> order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return x.builder->permute(x, order);
}

Shape joined(std::initializer_list<int64_t> first, std::span<const int64_t> rest) {
  Shape shape(first);
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

// Where the step is left out, the states of before.
std::vector<Tensor> kept(Tensor mask, const std::vector<Tensor>& next,
                         std::span<const Tensor> before) {
  std::vector<Tensor> states;
  for (size_t k = 0; k < next.size(); ++k) {
    Shape rows(static_cast<size_t>(next[k].rank()), 1);
    rows[0] = next[k].shape()[0];
    graph::Builder& builder = *mask.builder;
    const Tensor takes = builder.broadcast_to(builder.reshape(mask, rows), next[k].shape());
    states.push_back(select(takes, next[k], before[k]));
  }
  return states;
}

}  // namespace

Result<LayerPlan> RecurrentLayer::plan_call(std::span<const Shape> inputs) const {
  if (cell_ == nullptr || cell_->cell() == nullptr) return fail("cell must be a recurrent cell");
  if (inputs[0].size() < 2) {
    return fail(concat("wants [time, features], got ", bracketed(inputs[0])));
  }
  const Shape input(inputs[0].begin() + 1, inputs[0].end());
  ASSIGN_OR_RETURN(const std::vector<Shape> states, step().state_shapes(input));
  if (inputs.size() > 1 && !std::ranges::equal(inputs.subspan(1), states)) {
    return fail(concat("has ", states.size(), " states, the first of shape ", bracketed(states[0]),
                       "; got ", inputs.size() - 1, " initial states, the first of shape ",
                       bracketed(inputs[1])));
  }
  LayerPlan plan;
  plan.outputs.push_back(sequence_.return_sequences ? joined({inputs[0][0]}, states[0])
                                                    : states[0]);
  if (sequence_.return_state) {
    plan.outputs.insert(plan.outputs.end(), states.begin(), states.end());
  }
  ASSIGN_OR_RETURN(plan.weights, step().weights(input));
  for (Weight& weight : plan.weights) weight.trainable = weight.trainable && cell_->trainable();
  return plan;
}

std::vector<Tensor> RecurrentLayer::build_call(std::span<const Tensor> inputs,
                                               std::span<const Tensor> weights,
                                               Context& context) const {
  const Tensor mask = context.masks.empty() ? Tensor{} : context.masks[0];
  std::vector<Tensor> outputs = run(inputs, weights, mask, sequence_.go_backwards);
  context.output_masks.assign(outputs.size(), Tensor{});
  if (sequence_.return_sequences) context.output_masks[0] = mask;
  return outputs;
}

std::vector<Tensor> RecurrentLayer::run(std::span<const Tensor> inputs,
                                        std::span<const Tensor> weights, Tensor mask,
                                        bool backwards) const {
  const Tensor x = inputs[0];
  graph::Builder& builder = *x.builder;
  const Shape shape = x.shape();
  const size_t count = step().state_count();
  if (!x.valid()) {
    return std::vector<Tensor>(1 + (sequence_.return_state ? count : 0), Tensor{&builder, {}});
  }
  const int64_t batch = shape[0], steps = shape[1];
  const Shape input(shape.begin() + 2, shape.end());
  const Tensor rows = builder.reshape(exchanged(x), joined({steps * batch}, input));
  Tensor projected = step().project(rows, weights);
  const Shape wide = projected.shape();
  projected = builder.reshape(projected, joined({steps, batch}, std::span(wide).subspan(1)));

  std::vector<Tensor> initial(inputs.begin() + 1, inputs.end());
  if (initial.empty()) {
    const auto states = step().state_shapes(input);
    CHECK(states);
    for (const Shape& state : *states) {
      initial.push_back(builder.full(joined({batch}, state), scalar::Number::of(0.0f)));
    }
  }
  std::vector<Tensor> xs = {projected};
  if (mask.builder != nullptr) xs.push_back(exchanged(mask));
  const ops::ScanResult result = ops::scan(
      builder, {steps, backwards}, initial, xs, step().shared(weights),
      [&](const ops::ScanStep& each) -> ops::ScanResult {
        std::vector<Tensor> next = step().step(each.slices[0], each.carried, each.invariants);
        if (each.slices.size() > 1) next = kept(each.slices[1], next, each.carried);
        return {next, {next[0]}};
      });
  if (!builder.ok()) {
    return std::vector<Tensor>(1 + (sequence_.return_state ? count : 0), Tensor{&builder, {}});
  }
  std::vector<Tensor> outputs = {result.carried[0]};
  if (sequence_.return_sequences) {
    outputs[0] = exchanged(result.stacked[0]);
    if (backwards) outputs[0] = ops::reverse(outputs[0], std::vector<int>{1});
  }
  if (sequence_.return_state) {
    outputs.insert(outputs.end(), result.carried.begin(), result.carried.end());
  }
  return outputs;
}

LayerPtr simple_rnn(SimpleRNNOptions options) {
  return std::make_shared<RecurrentLayer>("SimpleRNN", simple_rnn_cell(options), options);
}
LayerPtr lstm(LSTMOptions options) {
  return std::make_shared<RecurrentLayer>("LSTM", lstm_cell(options), options);
}
LayerPtr gru(GRUOptions options) {
  return std::make_shared<RecurrentLayer>("GRU", gru_cell(options), options);
}
LayerPtr conv_lstm2d(ConvLSTM2DOptions options) {
  return std::make_shared<RecurrentLayer>("ConvLSTM2D", conv_lstm2d_cell(options), options);
}
LayerPtr rnn(RNNOptions options) {
  return std::make_shared<RecurrentLayer>("RNN", options.cell, options);
}

}  // namespace lathe::nn
