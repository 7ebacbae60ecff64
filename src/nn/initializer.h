// The first content of weights and optimizer slots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lathe/graph/graph.h"
#include "lathe/nn/tables.h"

namespace lathe::nn {

// A tensor that lives between calls, and how it starts.
struct Variable {
  std::string name;  // "dense_1/kernel", "optimizer/m/dense_1/kernel"
  graph::Shape shape;
  Chosen<InitializerKind> initializer;
  bool trainable = false;
  std::optional<Chosen<RegularizerKind>> regularizer = {};
  std::optional<Chosen<ConstraintKind>> constraint = {};
};

// An error if the initializer cannot fill this shape.
Status check_initializer(const Chosen<InitializerKind>& chosen, const graph::Shape& shape);

// The content at the start, row-major: a function of the shape, the initializer and its seed, or
// else the seed here and the name. The laws are those of TensorFlow.js (fans of the last two axes;
// truncated at two deviations without correction), the random numbers differ.
std::vector<float> initial_value(const Variable& variable, uint64_t seed);

}  // namespace lathe::nn
