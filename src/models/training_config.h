// How a model is trained <-> trainingConfig of Keras and TensorFlow.js.
#pragma once

#include <span>
#include <string>

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/nn/training/training.h"

namespace lathe::models {

// The arguments of `compile` of the package: {"loss", "lossWeights", "metrics", "optimizer"}; a
// loss is a name, an object of it and its parameters, or null where an output has none. Metrics
// that are not supported are left out. Errors: an unknown loss or optimizer.
Result<Json> read_training(const Json& config);
// The configuration for that; where "sparseLabels" is true for an output, its loss is of class
// numbers, if Keras has such a loss. Error: an unknown optimizer.
Result<Json> write_training(const Json& training);

// Loss, its weights, optimizer and metrics; where the loss is of class numbers, sparse labels.
// Errors: an unknown loss or optimizer. Unsupported metrics are left out, and
// those of outputs that the model does not have.
Result<nn::TrainingOptions> read_training_config(const Json& config,
                                                 std::span<const nn::Port> outputs);

// Without losses or an optimizer: null.
Result<std::string> write_training_config(const nn::TrainingOptions& training);

}  // namespace lathe::models
