// The weights of a model and what its optimiser has gathered, by the names that TensorFlow.js gives
// them. Knows no files.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/formats/safetensors.h"
#include "lathe/nn/states.h"
#include "lathe/nn/training.h"

namespace lathe::models {

using formats::NamedArray;

// The names under which weights are saved, by their names here: TensorFlow.js leaves out the models
// that a layer is nested in, and calls the directions of a layer by its name. Where two would be
// equal, both stay whole.
std::map<std::string, std::string> saved_names(const nn::Model& model);

// Replaces weights in `states` by those of the same name, of either kind, whatever the type of
// their numbers. Errors: another shape; with `strict`, weights that are missing or left over, or
// NaN. Then nothing has changed.
Status assign_weights(const nn::Model& model, std::span<const NamedArray> arrays, bool strict,
                      nn::States& states);

// Replaces what the optimiser has gathered: the steps, and its slots as WEIGHT/SLOT. Error: a
// tensor is missing or of another shape.
Status assign_optimizer(const nn::Model& model, const nn::TrainingOptions& training,
                        std::span<const NamedArray> arrays, nn::States& states);

// Errors: one is not in `states`.
Result<std::vector<NamedArray>> weight_arrays(const nn::Model& model, const nn::States& states);
Result<std::vector<NamedArray>> optimizer_arrays(const nn::Model& model,
                                                 const nn::TrainingOptions& training,
                                                 const nn::States& states);

}  // namespace lathe::models
