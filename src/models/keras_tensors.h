// The tensors of HDF5 files of Keras 2 -> their names in files of TensorFlow.js. Independent of
// HDF5 nor numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/json.h"

namespace lathe::models {

// lstm, "lstm/lstm_cell_1/kernel:0" -> "lstm/kernel": Keras repeats the layer and names its cell.
// Where two would be equal, as those of stacked cells, all include the cell. Keras 1 writes
// "dense_1_W".
std::vector<std::string> keras_weights(std::string_view layer, std::span<const std::string> paths);

struct KerasSlot {
  size_t path;       // index in the list of tensors
  std::string name;  // WEIGHT/SLOT
  // What its numbers are divided by: Keras gathers the steps of SGD themselves, against the
  // gradient, the learning rate within.
  std::optional<double> divisor;
};
struct KerasOptimizer {
  std::optional<size_t> steps;
  std::vector<KerasSlot> slots;
};
// The tensors of an optimizer, whose training_config it is. Keras has them as
// OPTIMIZER/WEIGHT/SLOT, later as OPTIMIZER/SLOT/WEIGHT; what is neither is left out.
KerasOptimizer keras_optimizer(std::span<const std::string> paths,
                               std::span<const std::string> weights, const Json& training);

}  // namespace lathe::models
