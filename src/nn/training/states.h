// The states of a model by name: initial content, and weights as safetensors.
// Operates on bytes, not files.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lathe/graph/evaluate.h"
#include "lathe/nn/model.h"

namespace lathe::nn {

using States = std::map<std::string, graph::Array>;

// Error: the array is of another type or shape than the variable, or not as long.
Status check_state(const Variable& variable, const graph::Array& array);

// The first content of all variables.
States initial_states(std::span<const Variable> variables, uint64_t seed);
// For compile::Options::contents: the initial states of a standalone module.
std::vector<graph::StateContent> contents_of(const States& states);

// The weights of the model, in its order, as a safetensors file. Error: one is not in `states`, or
// check_state rejects it.
Result<std::vector<std::byte>> write_weights(const Model& model, const States& states);

// Replaces the weights of the model in `states` by those of a safetensors file. Errors name the
// tensor: a damaged file, a tensor that is missing, that the model does not have, of another type
// or shape, or with NaN; then nothing has changed.
Status read_weights(const Model& model, std::span<const std::byte> file, States& states);

}  // namespace lathe::nn
