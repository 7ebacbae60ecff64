// Recipes of layers over the steps of sequences: recurrent ones and their wrappers, attention.
#include "model_generator.h"

namespace lathe::random_tests {

namespace {

using nn::LayerPtr;

int64_t units(ModelGenerator& g) { return g.rng.size(g.rng.chance(70) ? 13 : 40, false); }

template <class Options>
void draw_sequence(ModelGenerator& g, Options& options) {
  options.return_sequences = g.rng.chance(40);
  options.go_backwards = g.rng.chance(30);
}

template <class Options>
void draw_cell(ModelGenerator& g, Options& options) {
  options.use_bias = g.rng.chance(70);
  if (g.rng.chance(30)) options.activation = "sigmoid";
  if (g.rng.chance(15)) options.rates = {0.3, 0.3};
}

nn::SimpleRNNOptions simple_options(ModelGenerator& g) {
  nn::SimpleRNNOptions options;
  options.units = units(g);
  draw_cell(g, options);
  draw_sequence(g, options);
  return options;
}

nn::LSTMOptions lstm_options(ModelGenerator& g) {
  nn::LSTMOptions options;
  options.units = units(g);
  draw_cell(g, options);
  if (g.rng.chance(50)) options.recurrent_activation = "sigmoid";
  draw_sequence(g, options);
  return options;
}

nn::GRUOptions gru_options(ModelGenerator& g) {
  nn::GRUOptions options;
  options.units = units(g);
  draw_cell(g, options);
  if (g.rng.chance(50)) options.recurrent_activation = "sigmoid";
  options.reset_after = g.rng.chance(30);
  draw_sequence(g, options);
  return options;
}

LayerPtr recurrent(ModelGenerator& g) {
  switch (g.rng.below(3)) {
    case 0:
      return nn::simple_rnn(simple_options(g));
    case 1:
      return nn::lstm(lstm_options(g));
    default:
      return nn::gru(gru_options(g));
  }
}

LayerPtr gru_cell(ModelGenerator& g) { return nn::gru_cell(gru_options(g)); }
LayerPtr lstm_cell(ModelGenerator& g) { return nn::lstm_cell(lstm_options(g)); }
LayerPtr simple_cell(ModelGenerator& g) { return nn::simple_rnn_cell(simple_options(g)); }

LayerPtr any_cell(ModelGenerator& g) {
  constexpr std::array kCells = {gru_cell, lstm_cell, simple_cell};
  return g.rng.of(kCells)(g);
}

LayerPtr stacked_cells(ModelGenerator& g) {
  nn::StackedRNNCellsOptions options;
  for (int64_t count = g.rng.from(1, 3); count > 0; --count) options.cells.push_back(any_cell(g));
  return nn::stacked_rnn_cells(options);
}

template <LayerPtr (*cell)(ModelGenerator&)>
bool rnn(ModelGenerator& g) {
  nn::RNNOptions options;
  options.cell = cell(g);
  draw_sequence(g, options);
  return g.add(nn::rnn(options));
}

nn::ConvLSTM2DOptions images(ModelGenerator& g) {
  nn::ConvLSTM2DOptions options;
  options.filters = g.rng.size(7, false);
  options.kernel_size = g.rng.from(1, 3);
  options.padding = g.rng.chance(60) ? "same" : "valid";
  if (g.rng.chance(25)) options.strides = 2;
  options.use_bias = g.rng.chance(70);
  draw_sequence(g, options);
  return options;
}

LayerPtr image_cell(ModelGenerator& g) { return nn::conv_lstm2d_cell(images(g)); }

bool bidirectional(ModelGenerator& g) {
  static constexpr std::array kModes = {"concat", "sum", "mul", "ave"};
  return g.add(nn::bidirectional({.layer = recurrent(g), .merge_mode = g.rng.of(kModes)}));
}

bool time_distributed(ModelGenerator& g) {
  const LayerPtr inner =
      g.rank() == 2   ? nn::dense({.units = units(g), .activation = g.activation()})
      : g.rank() == 3 ? nn::conv1d({.filters = g.rng.size(5, false), .kernel_size = 2})
                      : nn::max_pooling2d({.padding = "same"});
  return g.add(nn::time_distributed({.layer = inner}));
}

bool attention(ModelGenerator& g) {
  nn::MultiHeadAttentionOptions options{.num_heads = g.rng.from(1, 3),
                                        .key_dim = g.rng.size(9, false)};
  if (g.rng.chance(40)) options.value_dim = g.rng.size(9, false);
  options.use_bias = g.rng.chance(70);
  options.use_causal_mask = g.rng.chance(40);
  return g.add(nn::multi_head_attention(options));
}

constexpr LayerRecipe kSequenceLayers[] = {
    {"SimpleRNN", 2, 2, [](ModelGenerator& g) { return g.add(nn::simple_rnn(simple_options(g))); }},
    {"LSTM", 2, 2, [](ModelGenerator& g) { return g.add(nn::lstm(lstm_options(g))); }},
    {"GRU", 2, 2, [](ModelGenerator& g) { return g.add(nn::gru(gru_options(g))); }},
    {"RNN", 2, 2, rnn<any_cell>},
    {"SimpleRNNCell", 2, 2, rnn<simple_cell>},
    {"LSTMCell", 2, 2, rnn<lstm_cell>},
    {"GRUCell", 2, 2, rnn<gru_cell>},
    {"StackedRNNCells", 2, 2, rnn<stacked_cells>},
    {"Bidirectional", 2, 2, bidirectional},
    {"ConvLSTM2D", 4, 4, [](ModelGenerator& g) { return g.add(nn::conv_lstm2d(images(g))); }},
    {"ConvLSTM2DCell", 4, 4, rnn<image_cell>},
    {"TimeDistributed", 2, 4, time_distributed},
    {"MultiHeadAttention", 2, 2, attention},
    {"SpatialDropout1D", 2, 2,
     [](ModelGenerator& g) { return g.add(nn::spatial_dropout1d({.rate = 0.3})); }},
};

}  // namespace

std::span<const LayerRecipe> sequence_layers() { return kSequenceLayers; }

}  // namespace lathe::random_tests
