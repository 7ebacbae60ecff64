// How a model is trained <-> trainingConfig of Keras and TensorFlow.js.
#pragma once

#include <span>
#include <string>

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/nn/training.h"

namespace lathe::models {

// What `compile` of the package takes: {"loss", "lossWeights", "metrics", "optimizer"}; a loss is a
// name, an object of it and its parameters, or null where an output has none. Metrics that are not
// known are left out. Errors: a loss or an optimiser that is not known.
Result<Json> read_training(const Json& config);
// The configuration for that; where "sparseLabels" says true of an output, its loss takes class
// numbers, if Keras has such a one. Error: an optimiser that is not known.
Result<Json> write_training(const Json& training);

// Loss, its weights, optimizer and metrics; where the loss takes class numbers, sparse labels.
// Errors: a loss or an optimiser that is not known. Metrics that are not known are left out, and
// those of outputs that the model does not have.
Result<nn::TrainingOptions> read_training_config(const Json& config,
                                                 std::span<const nn::Port> outputs);

// Without losses or an optimizer: null.
Result<std::string> write_training_config(const nn::TrainingOptions& training);

}  // namespace lathe::models
