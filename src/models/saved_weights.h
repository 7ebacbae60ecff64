// The weights of a model and the states of its optimizer, by the names that TensorFlow.js
// assigns. Operates on memory, not files.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/formats/safetensors.h"
#include "lathe/nn/training/states.h"
#include "lathe/nn/training/training.h"

namespace lathe::models {

using formats::NamedArray;

// saved_names of match_tensors.h.
std::map<std::string, std::string> saved_names(const nn::Model& model);

// Replaces weights in `states` by those of the same name, whatever the type of their numbers.
// Errors: as match_weights; with `strict`, NaN. Then nothing has changed.
Status assign_weights(const nn::Model& model, std::span<const NamedArray> arrays, bool strict,
                      nn::States& states);

// Replaces the states of the optimizer. Errors: as match_optimizer.
Status assign_optimizer(const nn::Model& model, const nn::TrainingOptions& training,
                        std::span<const NamedArray> arrays, nn::States& states);

// Error: a state is neither a weight of the model nor a state of layers, optimizer or random
// numbers.
Status check_names(const nn::Model& model, const nn::States& states);

// What a program with these variables starts with: `states`, and the others as the seed has them.
// Error: one is of another type or shape.
Result<std::vector<graph::StateContent>> initial_contents(std::span<const nn::Variable> variables,
                                                          const nn::States& states, uint64_t seed);

// Errors: one is not in `states`, or is of another type or shape.
Result<std::vector<NamedArray>> weight_arrays(const nn::Model& model, const nn::States& states);
Result<std::vector<NamedArray>> optimizer_arrays(const nn::Model& model,
                                                 const nn::TrainingOptions& training,
                                                 const nn::States& states);

}  // namespace lathe::models
