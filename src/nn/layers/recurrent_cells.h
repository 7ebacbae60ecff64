// The cells of recurrent layers: SimpleRNNCell, LSTMCell, GRUCell, ConvLSTM2DCell, StackedRNNCells.
// A cell is one step; as a layer it maps x and its states to its output and new states.
#pragma once

#include "lathe/nn/layer.h"
#include "lathe/nn/spatial.h"

namespace lathe::nn {

// Shares of the input and of the first state that are dropped while the model trains, the same in
// all steps of a sequence.
struct DropoutRates {
  double dropout = 0, recurrent_dropout = 0;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("dropout", dropout);
    field("recurrentDropout", recurrent_dropout);
  }
};

class RecurrentCell : public Layer {
 public:
  // Of one example; the first is that of the output.
  virtual Result<std::vector<Shape>> state_shapes(const Shape& input) const = 0;
  virtual Result<std::vector<Weight>> weights(const Shape& input) const = 0;
  // The part of a step that needs no state: [rows, input…] -> [rows, …], for all steps at once.
  virtual Tensor project(Tensor x, std::span<const Tensor> weights) const = 0;
  // The tensors derived from the weights that `step` reads.
  virtual std::vector<Tensor> shared(std::span<const Tensor> weights) const = 0;
  virtual size_t weight_count() const = 0;
  virtual size_t shared_count() const = 0;
  virtual size_t state_count() const = 0;
  virtual size_t mask_count() const { return 2; }
  // Whether the output is not the first state (it has the same shape).
  virtual bool has_separate_output() const { return false; }
  // The rest of a step: the new states, the first of which is the output; with
  // has_separate_output() the output, then the states. `masks` as masks() returns them.
  virtual std::vector<Tensor> step(Tensor projected, std::span<const Tensor> states,
                                   std::span<const Tensor> shared,
                                   std::span<const Tensor> masks) const = 0;
  // What the input and the first state are to be multiplied by in every step; a tensor without
  // builder where there is nothing to do. `input` has a batch. Two for each cell that this one is
  // made of.
  virtual std::vector<Tensor> masks(graph::Builder& builder, const Shape& input,
                                    Context& context) const;

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const final;
  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const final;
  const RecurrentCell* cell() const final { return this; }

 protected:
  template <class Options>
  explicit RecurrentCell(const Options& options, DropoutRates rates = {})
      : Layer(options), rates_(rates) {}

 private:
  DropoutRates rates_;
};

// x * mask, if there is one.
Tensor masked(Tensor x, Tensor mask);

// Weights kernel [input, units], recurrent_kernel [units, units], bias [units].
struct SimpleRNNCellOptions {
  int64_t units = 0;
  Choice activation = "tanh";
  bool use_bias = true;
  WeightOptions kernel = "glorotNormal", recurrent = "orthogonal", bias = "zeros";
  DropoutRates rates = {};
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("units", units);
    field("activation", activation);
    field("useBias", use_bias);
    field("kernel", kernel);
    field("recurrent", recurrent);
    field("bias", bias);
    rates.fields(field);
  }
};

// The gates are concatenated along the last axis of the weights: i, f, c, o. Hochreiter,
// Schmidhuber, "Long short-term memory", 1997.
struct LSTMCellOptions {
  int64_t units = 0;
  Choice activation = "tanh";
  Choice recurrent_activation = "hardSigmoid";
  bool use_bias = true;
  WeightOptions kernel = "glorotNormal", recurrent = "orthogonal", bias = "zeros";
  DropoutRates rates = {};
  bool unit_forget_bias = false;  // the bias of the forget gate f is initialized to one
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("units", units);
    field("activation", activation);
    field("recurrentActivation", recurrent_activation);
    field("useBias", use_bias);
    field("kernel", kernel);
    field("recurrent", recurrent);
    field("bias", bias);
    rates.fields(field);
    field("unitForgetBias", unit_forget_bias);
  }
};

// Gates z, r, h. Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014.
struct GRUCellOptions {
  int64_t units = 0;
  Choice activation = "tanh";
  Choice recurrent_activation = "hardSigmoid";
  bool use_bias = true;
  WeightOptions kernel = "glorotNormal", recurrent = "orthogonal", bias = "zeros";
  DropoutRates rates = {};
  bool reset_after = false;  // r multiplies the product, not what goes into it; bias [2, 3 units]
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("units", units);
    field("activation", activation);
    field("recurrentActivation", recurrent_activation);
    field("useBias", use_bias);
    field("kernel", kernel);
    field("recurrent", recurrent);
    field("bias", bias);
    rates.fields(field);
    field("resetAfter", reset_after);
  }
};

// An LSTM whose products are convolutions of images [height, width, channels]; that of the state
// has the padding "same". Shi et al., "Convolutional LSTM network", 2015.
struct ConvLSTM2DCellOptions {
  int64_t filters = 0;
  Sizes kernel_size = {};
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channelsLast";
  Sizes dilation_rate = 1;
  Choice activation = "tanh";
  Choice recurrent_activation = "hardSigmoid";
  bool use_bias = true;
  WeightOptions kernel = "glorotNormal", recurrent = "orthogonal", bias = "zeros";
  DropoutRates rates = {};
  bool unit_forget_bias = false;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("filters", filters);
    field("kernelSize", kernel_size);
    field("strides", strides);
    field("padding", padding);
    field("dataFormat", data_format);
    field("dilationRate", dilation_rate);
    field("activation", activation);
    field("recurrentActivation", recurrent_activation);
    field("useBias", use_bias);
    field("kernel", kernel);
    field("recurrent", recurrent);
    field("bias", bias);
    rates.fields(field);
    field("unitForgetBias", unit_forget_bias);
  }
};

// Each cell reads the output of the one before; the states are those of the last cell first.
struct StackedRNNCellsOptions {
  std::vector<LayerPtr> cells = {};
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("cells", cells);
  }
};

LayerPtr simple_rnn_cell(SimpleRNNCellOptions options);
LayerPtr lstm_cell(LSTMCellOptions options);
LayerPtr gru_cell(GRUCellOptions options);
LayerPtr conv_lstm2d_cell(ConvLSTM2DCellOptions options);
LayerPtr stacked_rnn_cells(StackedRNNCellsOptions options);

}  // namespace lathe::nn
