// The tensors of saved models matched to states of a model, by the names that
// TensorFlow.js assigns. Independent of models and numbers.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/graph/graph.h"
#include "lathe/models/match_names.h"
#include "lathe/nn/tables.h"

namespace lathe::models {

// A state and its tensor in a file, as indices into lists.
struct Match {
  size_t state, tensor;
};

// Optimizer states: those that are tensors of a file, and those that are one
// number.
struct OptimizerMatch {
  std::vector<Match> tensors;
  std::vector<std::pair<size_t, double>> numbers;
};

// A tensor of a file and its content: a state of a list, the step count as i32, or zeros.
struct OptimizerTensor {
  NamedShape tensor;
  std::optional<size_t> state;
  bool is_steps = false;
};

// The names under which weights are saved, by their names here: TensorFlow.js leaves out the models
// that a layer is nested in. Where two would be equal, both stay complete. `summary` is that of
// the network, see api/lathe.h.
std::map<std::string, std::string> saved_names(const Json& summary);

// The tensors of weights, as match_names finds them. Errors: another shape; with `strict`, weights
// that are missing or left over, or names that leave several assignments open.
Result<std::vector<Match>> match_weights(const std::map<std::string, std::string>& names,
                                         std::span<const NamedShape> weights,
                                         std::span<const NamedShape> tensors, bool strict);
// Those of optimizer states: slots as WEIGHT/SLOT; where names are others, by
// their order, if shapes agree. Errors: a tensor is missing or of another shape; `steps` is no
// count.
Result<OptimizerMatch> match_optimizer(const std::map<std::string, std::string>& names,
                                       const nn::Choice& optimizer,
                                       std::span<const NamedShape> weights,
                                       std::span<const NamedShape> states,
                                       std::span<const NamedShape> tensors, double steps);
// What is saved of it: the steps, then each slot for all weights in their order; nothing without
// steps.
std::vector<OptimizerTensor> optimizer_tensors(const std::map<std::string, std::string>& names,
                                               std::span<const NamedShape> weights,
                                               std::span<const NamedShape> states);

}  // namespace lathe::models
