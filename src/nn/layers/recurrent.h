// Layers that run a cell over the steps of sequences: RNN, SimpleRNN, LSTM, GRU, ConvLSTM2D.
#pragma once

#include "lathe/nn/layers/recurrent_cells.h"

namespace lathe::nn {

// Options of all of them. The result is [batch, output…] of the last step, or with return_sequences
// [batch, time, output…]; with return_state the last states follow. Masked steps
// leave output and states unchanged.
struct SequenceOptions {
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;  // the last step first; sequences are in processing order
  bool stateful = false;      // every call goes on with the states of the last; see LayerPlan
  bool unroll = false;        // changes nothing here: the steps are a loop

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void sequence_fields(Field&& field) {
    field("returnSequences", return_sequences);
    field("returnState", return_state);
    field("goBackwards", go_backwards);
    field("stateful", stateful);
    field("unroll", unroll);
  }
};

template <class CellOptions>
struct RecurrentOptions : CellOptions, SequenceOptions {
  template <class Field>
  void fields(Field&& field) {
    CellOptions::fields(field);
    sequence_fields(field);
  }
};

using SimpleRNNOptions = RecurrentOptions<SimpleRNNCellOptions>;
using LSTMOptions = RecurrentOptions<LSTMCellOptions>;
using GRUOptions = RecurrentOptions<GRUCellOptions>;
using ConvLSTM2DOptions = RecurrentOptions<ConvLSTM2DCellOptions>;

struct AnyCellOptions {
  LayerPtr cell = nullptr;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("cell", cell);
  }
};
using RNNOptions = RecurrentOptions<AnyCellOptions>;

// Inputs x [batch, time, input…] and optional initial states (else zeros).
class RecurrentLayer final : public Layer {
 public:
  template <class Options>
  RecurrentLayer(std::string_view class_name, LayerPtr cell, const Options& options)
      : Layer(options), class_name_(class_name), cell_(std::move(cell)), sequence_(options) {}

  std::string_view class_name() const override { return class_name_; }
  const RecurrentLayer* recurrent() const override { return this; }
  const SequenceOptions& sequence() const { return sequence_; }
  const RecurrentCell& step() const { return *cell_->cell(); }

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const override;
  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const override;
  // The same with the steps in the other order, if `backwards`. The names of layer states start
  // with `state_prefix`.
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                          bool backwards, std::string_view state_prefix, Context& context) const;

 private:
  std::string_view class_name_;
  LayerPtr cell_;
  SequenceOptions sequence_;
};

// Exchanges the first two axes: of batch and time.
Tensor exchange_axes(Tensor x);

LayerPtr simple_rnn(SimpleRNNOptions options);
LayerPtr lstm(LSTMOptions options);
LayerPtr gru(GRUOptions options);
LayerPtr conv_lstm2d(ConvLSTM2DOptions options);
LayerPtr rnn(RNNOptions options);

}  // namespace lathe::nn
