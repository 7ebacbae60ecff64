// A model and how it is trained -> the entry points of one module as tensor graphs, and the states
// they share.
#pragma once

#include <concepts>

#include "lathe/graph/graph.h"
#include "lathe/nn/model.h"
#include "lathe/nn/sequential.h"
#include "lathe/nn/training/loss.h"

namespace lathe::nn {

// How the labels come: Dense, f32 [batch, output…] (probabilities, one-hot, targets); Sparse, i32
// without the last axis (class numbers).
enum class Labels : uint8_t { Dense, Sparse };

struct BatchSizes {
  int64_t train = 64, evaluate = 64, predict = 64;
};

// One for each output of a model, or a single one for all of them.
template <class T>
struct PerOutput {
  std::vector<T> values;

  PerOutput() = default;
  template <std::convertible_to<T> Single>
  PerOutput(Single&& single) : values{T(std::forward<Single>(single))} {}
  PerOutput(std::vector<T> each) : values(std::move(each)) {}
  const T& operator[](size_t output) const { return values[values.size() == 1 ? 0 : output]; }
};

struct TrainingOptions {
  PerOutput<Choice> loss = {};  // none: the model only predicts; an empty one: not that output
  Choice optimizer = {};        // empty: the model cannot train
  PerOutput<Labels> labels = Labels::Dense;
  BatchSizes batch = {};
  PerOutput<double> loss_weights = 1.0;
  // A list for each output, or one for all of them.
  std::vector<std::vector<Choice>> metrics = {};
  bool train_metrics = true, test_metrics = true;  // which entries compute them, and correct
  // Of every trained weight of two axes or more, in addition to the weight's regularizer.
  Choice regularizer = {};
  bool row_weights = false;     // whether rows come with weights
  bool check_numerics = false;  // whether to look for numbers that are not finite
  // Batches that each entry finds in memory at once; see below.
  BatchSizes batches_in_memory = {1, 1, 1};
  // Whether the program is for a module that is driven without our runtime; see below.
  bool standalone = false;
  // Whether nodes record the layer they are part of, for compile::Options::timing.
  bool timing = false;
  // Also the equation, so that each is timed separately.
  bool equations = false;
};

// The output with the sums of a metric: "metric/NAME", of several outputs
// "metric/OUTPUT/NAME".
struct MetricOutput {
  std::string output;  // of the entries
  std::string name;    // as logs call it: "acc", of several outputs "OUTPUT_acc"
  Final final;
};

// The entries (B is the batch size of the entry, rows <= B the number of valid rows; the
// padding is excluded from every mean, sum and gradient, but must be finite):
//   train      x f32 [B, input…], y, rows i32 [] -> loss f32 [], correct f32 []; updates weights
//              and optimizer. With an optimizer.
//   evaluate   the same without the updates. With a loss.
//   predict    x f32 [B, input…] -> y f32 [B, output…]
//   predict_1  the same with B = 1
// A model of several inputs has x/NAME for each; one of several outputs y/NAME, loss/NAME and
// correct/NAME for each, and loss is the sum of their losses by weight. What layers add to the loss
// counts in loss only. A loss is the mean over rows and over all axes of an output but the last;
// correct counts rows where argmax(output) = argmax(label) (with a single output: both or
// neither above one half), shares of a row where it has further axes. Errors: a bad model, unknown
// names, bad hyperparameters, a loss that does not fit the last activation.
//
// Train and evaluate return the sums of every metric. With row weights they have an input weights
// f32 [B] (of several outputs weights/NAME): factors of the losses of rows, while the mean stays
// that over the number of rows; metrics do not weigh rows. The penalties of regularizers are part
// of the loss of train only. An entry with n > 1 batches in memory has x, y and weights of n * B
// rows, and order i32 [B] selects which of them are the batch, so that data may stay in memory for
// any number of calls and be shuffled. A standalone program also accumulates the outputs of train
// and evaluate over calls in the states "totals/ENTRY/…" (nn/training/totals.h), has an entry
// reset_ENTRY for each, and moves the seed of layers with random numbers by the state
// "random/seed", an integer below 2^24. An optimizer in it needs trainable weights. Its notes are
// "metrics": [{"output", "name", "final"}], as metric_outputs, and "watched": with check_numerics
// the watched_layers. With check_numerics they return not_finite i32 []: the index in
// watched_layers of the first layer with a result that is not finite, else -1.
Result<graph::Program> build_program(const Model& model, const TrainingOptions& options);

// The metrics of its entries train and evaluate, in the order of the options.
Result<std::vector<MetricOutput>> metric_outputs(const Model& model,
                                                 const TrainingOptions& options);
// The layers in the order of their calls, those of nested models as "MODEL/LAYER".
std::vector<std::string> watched_layers(const Model& model);

// Every state of that program: the weights in the order of the layers, then those of the optimizer.
Result<std::vector<Variable>> variables(const Model& model, const TrainingOptions& options);

}  // namespace lathe::nn
