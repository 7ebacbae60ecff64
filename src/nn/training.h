// A model and how it is trained -> the entry points of one module as tensor graphs, and the states
// they share.
#pragma once

#include "graph/graph.h"
#include "nn/sequential.h"

namespace lathe::nn {

// How the labels come: Dense, f32 [batch, outputs] (probabilities, one-hot, targets); Sparse, i32
// [batch] (class numbers).
enum class Labels : uint8_t { Dense, Sparse };

struct BatchSizes {
  int64_t train = 64, evaluate = 64, predict = 64;
};

struct TrainingOptions {
  Choice loss = {};       // empty: the model only predicts
  Choice optimizer = {};  // empty: the model cannot train
  Labels labels = Labels::Dense;
  BatchSizes batch = {};
};

// The entries (B is the batch size of the entry, rows <= B the number of rows that hold data; the
// others are left out of every mean, sum and gradient, but must be finite):
//   train      x f32 [B, input…], y, rows i32 [] -> loss f32 [], correct f32 []; updates weights
//   and optimiser. With an optimiser. evaluate   the same without the updates. With a loss. predict
//   x f32 [B, input…] -> y f32 [B, output…] predict_1  the same with B = 1
// loss is the mean over rows; correct counts rows whose greatest output is at the greatest label
// (with a single output: both or neither above one half). Errors: a bad model, unknown names, bad
// hyperparameters, a loss that does not fit the last activation, an output that is not a vector.
Result<graph::Program> build_program(const Sequential& model, const TrainingOptions& options);

// Every state of that program: the weights in the order of the layers, then those of the optimiser.
Result<std::vector<Variable>> variables(const Sequential& model, const TrainingOptions& options);

}  // namespace lathe::nn
