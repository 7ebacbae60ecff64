// Optimizers: their states and the graph of one step. Update rules and defaults are those of
// TensorFlow.js 4.22 (tfjs-core/src/optimizers).
#pragma once

#include <span>
#include <vector>

#include "lathe/graph/builder.h"
#include "lathe/nn/initializer.h"
#include "lathe/nn/layer.h"

namespace lathe::nn {

inline constexpr std::string_view kLearningRate = "optimizer/learning_rate";

// An error if its options exclude each other.
Status check_optimizer(const Chosen<OptimizerKind>& optimizer);

// optimizer/learning_rate, optimizer/step (calls so far), optimizer/PARAMETER_power for every
// running power of the optimizer, and optimizer/SLOT/WEIGHT for every slot and weight.
std::vector<Variable> optimizer_variables(const Chosen<OptimizerKind>& optimizer,
                                          std::span<const Variable> weights);

// Scalars that the updates read. Computed before the gradients, they let each update follow its
// gradient immediately.
struct StepNumbers {
  graph::Tensor rate;
  std::vector<graph::Tensor> powers;
  // Of means that began at 0: rate / (1 - the first power), 1 / (1 - the second).
  std::vector<graph::Tensor> corrections;
};
StepNumbers step_numbers(graph::Builder& builder, const Chosen<OptimizerKind>& optimizer);

// Adds to the graph the updates of the weights and of all optimizer states, from one gradient per
// weight.
void add_optimizer_step(graph::Builder& builder, const Chosen<OptimizerKind>& optimizer,
                        const StepNumbers& numbers, std::span<const Variable> weights,
                        std::span<const graph::Tensor> gradients);

}  // namespace lathe::nn
