#include "lathe/nn/layers/recurrent_cells.h"

#include <algorithm>

#include "lathe/base/check.h"
#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/nn/layers/noise.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/windows/conv.h"

namespace lathe::nn {

Result<LayerPlan> RecurrentCell::plan_call(std::span<const Shape> inputs) const {
  LATHE_ASSIGN_OR_RETURN(const std::vector<Shape> states, state_shapes(inputs[0]));
  if (!std::ranges::equal(inputs.subspan(1), states)) {
    return fail(concat("expects the input and ", states.size(), " states, the first of shape ",
                       bracketed(states[0]), "; got ", inputs.size(), " inputs"));
  }
  LayerPlan plan{states, {}};
  insert_at(plan.outputs, 0, states[0]);
  LATHE_ASSIGN_OR_RETURN(plan.weights, weights(inputs[0]));
  return plan;
}

std::vector<Tensor> RecurrentCell::build_call(std::span<const Tensor> inputs,
                                              std::span<const Tensor> weights,
                                              Context& context) const {
  const Tensor x = inputs[0];
  const std::vector<Tensor> drops = masks(*x.builder, x.shape(), context);
  std::vector<Tensor> outputs =
      step(project(masked(x, drops[0]), weights), inputs.subspan(1), shared(weights), drops);
  if (!has_separate_output()) insert_at(outputs, 0, outputs[0]);
  return outputs;
}

std::vector<Tensor> RecurrentCell::masks(graph::Builder& builder, const Shape& input,
                                         Context& context) const {
  const auto states = state_shapes(Shape(input.begin() + 1, input.end()));
  std::vector<Tensor> masks(2);
  if (!context.trains() || !states) return masks;
  Shape state = (*states)[0];
  insert_at(state, 0, input[0]);
  if (const double rate = rates_.dropout; rate > 0) {
    masks[0] = dropout_mask(builder, context, {}, input, rate);
  }
  if (const double rate = rates_.recurrent_dropout; rate > 0) {
    masks[1] = dropout_mask(builder, context, {}, std::move(state), rate);
  }
  return masks;
}

Tensor masked(Tensor x, Tensor mask) { return mask.builder == nullptr ? x : x * mask; }

namespace {

// Part k of `count` equal ones along the last axis, or the parts from k to k + parts.
Tensor part(Tensor x, int64_t k, int64_t count, int64_t parts = 1) {
  Shape begin(x.rank(), 0), size(begin.size(), -1);
  const int64_t each = x.shape().back() / count;
  begin.back() = k * each;
  size.back() = parts * each;
  return ops::slice(x, begin, size);
}

Tensor row(Tensor x, int64_t k) {
  return x.builder->reshape(ops::slice(x, {k, 0}, Shape{1, -1}), {x.shape()[1]});
}

Tensor activated(const Choice& choice, Tensor x) {
  const auto found = find_activation(choice);
  LATHE_CHECK(found);
  return apply_activation(*found, x);
}

Status check(std::initializer_list<Choice> activations, const DropoutRates& rates) {
  for (const Choice& choice : activations) LATHE_TRY(find_activation(choice));
  LATHE_TRY(check_rate("dropout", rates.dropout));
  return check_rate("recurrentDropout", rates.recurrent_dropout);
}

Status check_units(std::string_view what, int64_t units) {
  if (units >= 1 && units <= INT32_MAX / 4) return {};
  return fail(concat(what, " must be a positive integer, got ", units));
}

Result<std::vector<Shape>> vector_states(const Shape& input, int64_t units, size_t count) {
  LATHE_TRY(check_units("units", units));
  if (input.size() != 1) {
    return fail(concat("expects [features] at each step, got ", bracketed(input)));
  }
  return std::vector<Shape>(count, Shape{units});
}

// Of a dense cell with this many gates.
template <class Options>
std::vector<Weight> dense_weights(const Options& options, const Shape& input, int64_t gates) {
  const int64_t width = gates * options.units;
  std::vector<Weight> weights = {{"kernel", {input[0], width}, options.kernel},
                                 {"recurrent_kernel", {options.units, width}, options.recurrent}};
  if (options.use_bias) weights.push_back({"bias", {width}, options.bias});
  return weights;
}

template <class Options>
Result<WeightOptions> lstm_bias(const Options& options) {
  WeightOptions bias = options.bias;
  if (!options.unit_forget_bias) return bias;
  if (bias.initializer.name != "zeros") {
    return fail(concat("unitForgetBias requires the biasInitializer \"zeros\", got \"",
                       bias.initializer.name, '"'));
  }
  bias.initializer = "forgetGateOnes";
  return bias;
}

// i, f, c, o side by side in z -> h and c.
std::vector<Tensor> lstm_states(Tensor z, Tensor c, const Choice& activation,
                                const Choice& recurrent_activation) {
  const Tensor i = activated(recurrent_activation, part(z, 0, 4));
  const Tensor f = activated(recurrent_activation, part(z, 1, 4));
  const Tensor next = f * c + i * activated(activation, part(z, 2, 4));
  const Tensor o = activated(recurrent_activation, part(z, 3, 4));
  return {o * activated(activation, next), next};
}

class SimpleRNNCell final : public RecurrentCell {
 public:
  explicit SimpleRNNCell(SimpleRNNCellOptions options)
      : RecurrentCell(options, options.rates), options_(std::move(options)) {}

  std::string_view class_name() const override { return "SimpleRNNCell"; }

  Result<std::vector<Shape>> state_shapes(const Shape& input) const override {
    LATHE_TRY(check({options_.activation}, options_.rates));
    return vector_states(input, options_.units, 1);
  }
  Result<std::vector<Weight>> weights(const Shape& input) const override {
    return dense_weights(options_, input, 1);
  }
  Tensor project(Tensor x, std::span<const Tensor> weights) const override {
    const Tensor y = x.builder->matmul(x, weights[0]);
    return options_.use_bias ? y + weights[2] : y;
  }
  std::vector<Tensor> shared(std::span<const Tensor> weights) const override {
    return {weights[1]};
  }
  size_t weight_count() const override { return options_.use_bias ? 3 : 2; }
  size_t shared_count() const override { return 1; }
  size_t state_count() const override { return 1; }
  std::vector<Tensor> step(Tensor projected, std::span<const Tensor> states,
                           std::span<const Tensor> shared,
                           std::span<const Tensor> masks) const override {
    const Tensor h = masked(states[0], masks[1]);
    return {activated(options_.activation, projected + h.builder->matmul(h, shared[0]))};
  }

 private:
  SimpleRNNCellOptions options_;
};

class LSTMCell final : public RecurrentCell {
 public:
  explicit LSTMCell(LSTMCellOptions options)
      : RecurrentCell(options, options.rates), options_(std::move(options)) {}

  std::string_view class_name() const override { return "LSTMCell"; }

  Result<std::vector<Shape>> state_shapes(const Shape& input) const override {
    LATHE_TRY(check({options_.activation, options_.recurrent_activation}, options_.rates));
    return vector_states(input, options_.units, 2);
  }
  Result<std::vector<Weight>> weights(const Shape& input) const override {
    std::vector<Weight> weights = dense_weights(options_, input, 4);
    if (options_.use_bias) {
      LATHE_ASSIGN_OR_RETURN(weights[2].options, lstm_bias(options_));
    }
    return weights;
  }
  Tensor project(Tensor x, std::span<const Tensor> weights) const override {
    const Tensor y = x.builder->matmul(x, weights[0]);
    return options_.use_bias ? y + weights[2] : y;
  }
  std::vector<Tensor> shared(std::span<const Tensor> weights) const override {
    return {weights[1]};
  }
  size_t weight_count() const override { return options_.use_bias ? 3 : 2; }
  size_t shared_count() const override { return 1; }
  size_t state_count() const override { return 2; }
  std::vector<Tensor> step(Tensor projected, std::span<const Tensor> states,
                           std::span<const Tensor> shared,
                           std::span<const Tensor> masks) const override {
    const Tensor h = masked(states[0], masks[1]);
    return lstm_states(projected + h.builder->matmul(h, shared[0]), states[1], options_.activation,
                       options_.recurrent_activation);
  }

 private:
  LSTMCellOptions options_;
};

class GRUCell final : public RecurrentCell {
 public:
  explicit GRUCell(GRUCellOptions options)
      : RecurrentCell(options, options.rates), options_(std::move(options)) {}

  std::string_view class_name() const override { return "GRUCell"; }

  Result<std::vector<Shape>> state_shapes(const Shape& input) const override {
    LATHE_TRY(check({options_.activation, options_.recurrent_activation}, options_.rates));
    return vector_states(input, options_.units, 1);
  }
  Result<std::vector<Weight>> weights(const Shape& input) const override {
    std::vector<Weight> weights = dense_weights(options_, input, 3);
    if (has_recurrent_bias()) weights[2].shape = {2, 3 * options_.units};
    return weights;
  }
  Tensor project(Tensor x, std::span<const Tensor> weights) const override {
    const Tensor y = x.builder->matmul(x, weights[0]);
    if (!options_.use_bias) return y;
    return y + (options_.reset_after ? row(weights[2], 0) : weights[2]);
  }
  std::vector<Tensor> shared(std::span<const Tensor> weights) const override {
    if (!options_.reset_after) return {part(weights[1], 0, 3, 2), part(weights[1], 2, 3)};
    std::vector<Tensor> shared = {weights[1]};
    if (has_recurrent_bias()) shared.push_back(row(weights[2], 1));
    return shared;
  }
  size_t weight_count() const override { return options_.use_bias ? 3 : 2; }
  size_t shared_count() const override {
    return !options_.reset_after || has_recurrent_bias() ? 2 : 1;
  }
  size_t state_count() const override { return 1; }
  std::vector<Tensor> step(Tensor projected, std::span<const Tensor> states,
                           std::span<const Tensor> shared,
                           std::span<const Tensor> masks) const override {
    // As in TensorFlow.js the dropped state is also the one that is interpolated.
    const Tensor h = masked(states[0], masks[1]), x_h = part(projected, 2, 3);
    Tensor inner = projected.builder->matmul(h, shared[0]);
    if (has_recurrent_bias()) inner = inner + shared[1];
    const int64_t parts = options_.reset_after ? 3 : 2;
    const auto gate = [&](int64_t k) {
      return activated(options_.recurrent_activation,
                       part(projected, k, 3) + part(inner, k, parts));
    };
    const Tensor z = gate(0), r = gate(1);
    const Tensor inner_h =
        options_.reset_after ? r * part(inner, 2, 3) : projected.builder->matmul(r * h, shared[1]);
    return {z * h + (1.0f - z) * activated(options_.activation, x_h + inner_h)};
  }

 private:
  bool has_recurrent_bias() const { return options_.reset_after && options_.use_bias; }

  GRUCellOptions options_;
};

class ConvLSTM2DCell final : public RecurrentCell {
 public:
  explicit ConvLSTM2DCell(ConvLSTM2DCellOptions options)
      : RecurrentCell(options, options.rates), options_(std::move(options)) {}

  std::string_view class_name() const override { return "ConvLSTM2DCell"; }

  Result<std::vector<Shape>> state_shapes(const Shape& input) const override {
    LATHE_TRY(check({options_.activation, options_.recurrent_activation}, options_.rates));
    LATHE_TRY(check_units("filters", options_.filters));
    if (!channels_first() && !same_name(options_.data_format, "channelsLast")) {
      return fail(concat("dataFormat must be \"channelsFirst\" or \"channelsLast\", got \"",
                         options_.data_format.substr(0, 60), '"'));
    }
    LATHE_ASSIGN_OR_RETURN(const Window found, window_over(input));
    const int64_t height = found.out[0], width = found.out[1];
    return std::vector<Shape>(2, channels_first() ? Shape{options_.filters, height, width}
                                                  : Shape{height, width, options_.filters});
  }
  Result<std::vector<Weight>> weights(const Shape& input) const override {
    LATHE_ASSIGN_OR_RETURN(const Window found, window_over(input));
    const int64_t height = found.size[0], width = found.size[1], out = 4 * options_.filters;
    std::vector<Weight> weights = {
        {"kernel", {height, width, input[channels_first() ? 0 : 2], out}, options_.kernel},
        {"recurrent_kernel", {height, width, options_.filters, out}, options_.recurrent}};
    if (options_.use_bias) {
      LATHE_ASSIGN_OR_RETURN(WeightOptions bias, lstm_bias(options_));
      weights.push_back({"bias", {out}, std::move(bias)});
    }
    return weights;
  }
  Tensor project(Tensor x, std::span<const Tensor> weights) const override {
    const auto found = window_over(Shape(x.shape().begin() + 1, x.shape().end()));
    const ops::ConvOptions options{found ? found->options : ops::WindowOptions{}};
    const Tensor y = ops::conv(channels_last(x), weights[0], options);
    return options_.use_bias ? y + weights[2] : y;
  }
  std::vector<Tensor> shared(std::span<const Tensor> weights) const override {
    return {weights[1]};
  }
  size_t weight_count() const override { return options_.use_bias ? 3 : 2; }
  size_t shared_count() const override { return 1; }
  size_t state_count() const override { return 2; }
  std::vector<Tensor> step(Tensor projected, std::span<const Tensor> states,
                           std::span<const Tensor> shared,
                           std::span<const Tensor> masks) const override {
    ops::ConvOptions same;
    same.window.padding = ops::Padding::Same;
    const Tensor h = channels_last(masked(states[0], masks[1]));
    std::vector<Tensor> next =
        lstm_states(projected + ops::conv(h, shared[0], same), channels_last(states[1]),
                    options_.activation, options_.recurrent_activation);
    if (!channels_first()) return next;
    for (Tensor& state : next) state = state.builder->permute(state, std::vector<int>{0, 3, 1, 2});
    return next;
  }

 private:
  bool channels_first() const { return same_name(options_.data_format, "channelsFirst"); }

  // What it computes has the channels last.
  Tensor channels_last(Tensor x) const {
    return channels_first() ? x.builder->permute(x, std::vector<int>{0, 2, 3, 1}) : x;
  }

  Result<Window> window_over(Shape input) const {
    if (channels_first() && !input.empty()) {
      const int64_t channels = input[0];
      input.erase(input.begin());
      input.push_back(channels);
    }
    return window(
        2, "kernelSize",
        {options_.kernel_size, options_.strides, options_.dilation_rate, options_.padding}, input);
  }

  ConvLSTM2DCellOptions options_;
};

class StackedRNNCells final : public RecurrentCell {
 public:
  explicit StackedRNNCells(StackedRNNCellsOptions options)
      : RecurrentCell(options), cells_(std::move(options.cells)) {}

  std::string_view class_name() const override { return "StackedRNNCells"; }

  Result<std::vector<Shape>> state_shapes(const Shape& input) const override {
    if (cells_.empty()) return fail("cells is empty");
    std::vector<Shape> states;
    Shape shape = input;
    for (const LayerPtr& cell : cells_) {
      if (cell == nullptr || cell->cell() == nullptr) return fail("cells must contain cells only");
      LATHE_ASSIGN_OR_RETURN(const std::vector<Shape> of_cell, cell->cell()->state_shapes(shape));
      states.insert(states.begin(), of_cell.begin(), of_cell.end());
      shape = of_cell[0];
    }
    return states;
  }

  Result<std::vector<Weight>> weights(const Shape& input) const override {
    std::vector<Weight> all;
    Shape shape = input;
    for (size_t i = 0; i < cells_.size(); ++i) {
      LATHE_ASSIGN_OR_RETURN(std::vector<Weight> of_cell, cells_[i]->cell()->weights(shape));
      LATHE_ASSIGN_OR_RETURN(const std::vector<Shape> states,
                             cells_[i]->cell()->state_shapes(shape));
      for (Weight& weight : of_cell) {
        weight.name = concat("RNNCell_", i, '/', weight.name);
        weight.trainable = weight.trainable && cells_[i]->trainable();
        all.push_back(std::move(weight));
      }
      shape = states[0];
    }
    return all;
  }

  Tensor project(Tensor x, std::span<const Tensor> weights) const override {
    return cells_[0]->cell()->project(x, weights);
  }

  // All weights of each cell but the first, then the arguments of its steps.
  std::vector<Tensor> shared(std::span<const Tensor> weights) const override {
    std::vector<Tensor> shared;
    for (const LayerPtr& cell : cells_) {
      const auto of_cell = weights.first(cell->cell()->weight_count());
      if (cell != cells_[0]) shared.insert(shared.end(), of_cell.begin(), of_cell.end());
      const std::vector<Tensor> parts = cell->cell()->shared(of_cell);
      shared.insert(shared.end(), parts.begin(), parts.end());
      weights = weights.subspan(of_cell.size());
    }
    return shared;
  }

  size_t weight_count() const override {
    size_t count = 0;
    for (const LayerPtr& cell : cells_) count += cell->cell()->weight_count();
    return count;
  }
  size_t shared_count() const override {
    size_t count = weight_count() - cells_[0]->cell()->weight_count();
    for (const LayerPtr& cell : cells_) count += cell->cell()->shared_count();
    return count;
  }
  size_t state_count() const override {
    size_t count = 0;
    for (const LayerPtr& cell : cells_) count += cell->cell()->state_count();
    return count;
  }
  size_t mask_count() const override {
    size_t count = 0;
    for (const LayerPtr& cell : cells_) count += cell->cell()->mask_count();
    return count;
  }

  bool has_separate_output() const override { return cells_.back()->cell()->has_separate_output(); }

  std::vector<Tensor> masks(graph::Builder& builder, const Shape& input,
                            Context& context) const override {
    std::vector<Tensor> all;
    Shape shape = input;
    for (const LayerPtr& cell : cells_) {
      const std::vector<Tensor> of_cell = cell->cell()->masks(builder, shape, context);
      all.insert(all.end(), of_cell.begin(), of_cell.end());
      const auto states = cell->cell()->state_shapes(Shape(shape.begin() + 1, shape.end()));
      if (states) std::copy((*states)[0].begin(), (*states)[0].end(), shape.begin() + 1);
    }
    return all;
  }

  std::vector<Tensor> step(Tensor projected, std::span<const Tensor> states,
                           std::span<const Tensor> shared,
                           std::span<const Tensor> masks) const override {
    std::vector<Tensor> all;
    Tensor x = projected;
    size_t end = states.size();
    for (size_t i = 0; i < cells_.size(); ++i) {
      const RecurrentCell& cell = *cells_[i]->cell();
      if (i > 0) {
        x = cell.project(masked(x, masks[0]), shared.first(cell.weight_count()));
        shared = shared.subspan(cell.weight_count());
      }
      const size_t begin = end - cell.state_count();
      const std::vector<Tensor> next = cell.step(x, states.subspan(begin, end - begin),
                                                 shared.first(cell.shared_count()), masks);
      masks = masks.subspan(cell.mask_count());
      shared = shared.subspan(cell.shared_count());
      all.insert(all.begin(), next.begin() + (cell.has_separate_output() ? 1 : 0), next.end());
      x = next[0];
      end = begin;
    }
    if (has_separate_output()) insert_at(all, 0, x);
    return all;
  }

 private:
  std::vector<LayerPtr> cells_;
};

}  // namespace

LayerPtr simple_rnn_cell(SimpleRNNCellOptions options) {
  return std::make_shared<SimpleRNNCell>(std::move(options));
}
LayerPtr lstm_cell(LSTMCellOptions options) {
  return std::make_shared<LSTMCell>(std::move(options));
}
LayerPtr gru_cell(GRUCellOptions options) { return std::make_shared<GRUCell>(std::move(options)); }
LayerPtr conv_lstm2d_cell(ConvLSTM2DCellOptions options) {
  return std::make_shared<ConvLSTM2DCell>(std::move(options));
}
LayerPtr stacked_rnn_cells(StackedRNNCellsOptions options) {
  return std::make_shared<StackedRNNCells>(std::move(options));
}

}  // namespace lathe::nn
