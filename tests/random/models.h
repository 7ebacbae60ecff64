// Random models over all layers, with their losses and optimizers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/nn/training/training.h"

namespace lathe::random_tests {

struct RandomModel {
  nn::Model model;
  nn::TrainingOptions options;
  std::vector<std::string> layers;  // classes in the order of selection
  int64_t indices = 0;              // the input has integers below this
  bool masks = false;               // the input has steps of zeros
  int64_t classes = 0;              // labels are class numbers below this
  bool has_slopes = false;          // one step goes down by the gradient itself
};

// As random_function.
RandomModel random_model(uint64_t seed, int steps = -1);

// The layer classes and losses of nn/tables.def that no model has.
std::vector<std::string> rows_without_recipe();

}  // namespace lathe::random_tests
