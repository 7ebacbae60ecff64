#include "lathe/nn/layers/recurrent.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::nn {
namespace {

Shape concat_shape(std::initializer_list<int64_t> first, std::span<const int64_t> rest) {
  Shape shape(first);
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

// The previous states where the mask is false.
std::vector<Tensor> masked_update(Tensor mask, const std::vector<Tensor>& next,
                                  std::span<const Tensor> before) {
  std::vector<Tensor> states;
  for (size_t k = 0; k < next.size(); ++k) {
    Shape rows(next[k].rank(), 1);
    rows[0] = next[k].shape()[0];
    graph::Builder& builder = *mask.builder;
    const Tensor selected = builder.broadcast_to(builder.reshape(mask, rows), next[k].shape());
    states.push_back(select(selected, next[k], before[k]));
  }
  return states;
}

}  // namespace

Tensor exchange_axes(Tensor x) {
  std::vector<int> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return x.builder->permute(x, order);
}

Result<LayerPlan> RecurrentLayer::plan_call(std::span<const Shape> inputs) const {
  if (cell_ == nullptr || cell_->cell() == nullptr) return fail("cell must be a recurrent cell");
  if (inputs[0].size() < 2) {
    return fail(concat("expects [time, features], got ", bracketed(inputs[0])));
  }
  const Shape input(inputs[0].begin() + 1, inputs[0].end());
  LATHE_ASSIGN_OR_RETURN(const std::vector<Shape> states, step().state_shapes(input));
  if (inputs.size() > 1 && !std::ranges::equal(inputs.subspan(1), states)) {
    return fail(concat("has ", states.size(), " states, the first of shape ", bracketed(states[0]),
                       "; got ", inputs.size() - 1, " initial states, the first of shape ",
                       bracketed(inputs[1])));
  }
  LayerPlan plan;
  plan.outputs.push_back(sequence_.return_sequences ? concat_shape({inputs[0][0]}, states[0])
                                                    : states[0]);
  if (sequence_.return_state) {
    plan.outputs.insert(plan.outputs.end(), states.begin(), states.end());
  }
  LATHE_ASSIGN_OR_RETURN(plan.weights, step().weights(input));
  for (Weight& weight : plan.weights) weight.trainable = weight.trainable && cell_->trainable();
  for (size_t k = 0; sequence_.stateful && k < states.size(); ++k) {
    plan.states.push_back({concat(k), states[k]});
  }
  return plan;
}

std::vector<Tensor> RecurrentLayer::build_call(std::span<const Tensor> inputs,
                                               std::span<const Tensor> weights,
                                               Context& context) const {
  std::vector<Tensor> outputs = run(inputs, weights, sequence_.go_backwards, "", context);
  context.output_masks.assign(outputs.size(), Tensor{});
  if (sequence_.return_sequences && !context.masks.empty()) {
    context.output_masks[0] = context.masks[0];
  }
  return outputs;
}

std::vector<Tensor> RecurrentLayer::run(std::span<const Tensor> inputs,
                                        std::span<const Tensor> weights, bool backwards,
                                        std::string_view state_prefix, Context& context) const {
  const Tensor x = inputs[0];
  graph::Builder& builder = *x.builder;
  const Shape shape = x.shape();
  const size_t count = step().state_count();
  if (!x.valid()) {
    return std::vector<Tensor>(1 + (sequence_.return_state ? count : 0), Tensor{&builder, {}});
  }
  const int64_t batch = shape[0], steps = shape[1];
  const Shape input(shape.begin() + 2, shape.end());
  const std::vector<Tensor> masks = step().masks(builder, concat_shape({batch}, input), context);
  const Tensor dropped = masks[0].builder == nullptr
                             ? x
                             : x * builder.reshape(masks[0], concat_shape({batch, 1}, input));
  const Tensor rows = builder.reshape(exchange_axes(dropped), concat_shape({steps * batch}, input));
  Tensor projected = step().project(rows, weights);
  const Shape wide = projected.shape();
  projected = builder.reshape(projected, concat_shape({steps, batch}, std::span(wide).subspan(1)));

  std::vector<Tensor> initial(inputs.begin() + 1, inputs.end()), layer_states;
  const auto states = step().state_shapes(input);
  LATHE_CHECK(states);
  for (size_t k = 0; k < count; ++k) {
    const Shape rows_of_state = concat_shape({batch}, (*states)[k]);
    if (sequence_.stateful) {
      layer_states.push_back(context.layer_state(builder, concat(state_prefix, k), rows_of_state));
    }
    if (initial.size() > k) continue;
    initial.push_back(sequence_.stateful ? context.current(layer_states[k])
                                         : builder.full(rows_of_state, scalar::Number::of(0.0f)));
  }
  std::vector<Tensor> xs = {projected};
  const Tensor mask = context.masks.empty() ? Tensor{} : context.masks[0];
  if (mask.builder != nullptr) xs.push_back(exchange_axes(mask));
  std::vector<Tensor> invariants = step().shared(weights);
  const size_t shared = invariants.size();
  const bool has_separate_output = step().has_separate_output();
  std::ranges::copy_if(masks.begin() + 1, masks.end(), std::back_inserter(invariants),
                       [](const Tensor& each) { return each.builder != nullptr; });
  const ops::ScanResult result = ops::scan(
      builder, {steps, backwards}, initial, xs, invariants,
      [&](const ops::ScanStep& each) -> ops::ScanResult {
        std::vector<Tensor> step_masks = masks;
        auto argument = each.invariants.begin() + static_cast<std::ptrdiff_t>(shared);
        for (size_t k = 1; k < step_masks.size(); ++k) {
          if (step_masks[k].builder != nullptr) step_masks[k] = *argument++;
        }
        std::vector<Tensor> next = step().step(
            each.slices[0], each.carried, std::span(each.invariants).first(shared), step_masks);
        std::vector<Tensor> output = {next[0]};
        if (has_separate_output) next.erase(next.begin());
        if (each.slices.size() > 1) {
          next = masked_update(each.slices[1], next, each.carried);
          output = has_separate_output ? masked_update(each.slices[1], output, each.carried)
                                       : std::vector{next[0]};
        }
        return {next, output};
      });
  if (!builder.ok()) {
    return std::vector<Tensor>(1 + (sequence_.return_state ? count : 0), Tensor{&builder, {}});
  }
  for (size_t k = 0; k < layer_states.size(); ++k)
    context.update(layer_states[k], result.carried[k]);
  std::vector<Tensor> outputs = {result.carried[0]};
  if (has_separate_output) {
    const Shape state = outputs[0].shape();
    Shape begin(state.size() + 1, 0), size = concat_shape({1}, state);
    begin[0] = backwards ? 0 : steps - 1;
    outputs[0] = builder.reshape(ops::slice(result.stacked[0], begin, size), state);
  }
  if (sequence_.return_sequences) {
    outputs[0] = exchange_axes(result.stacked[0]);
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
