// Conversion between names of Keras and of this package: by rule, exceptions from nn/keras.def.
// Independent of files.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/json.h"
#include "lathe/nn/tables.h"

namespace lathe::models {

// dilation_rate -> dilationRate.
std::string to_camel_case(std::string_view name);
// dilationRate -> dilation_rate.
std::string to_snake_case(std::string_view name);

enum class KerasTable : uint8_t { Activation, Regularizer, Optimizer, OptimizerOption, Slot, Loss };

// What Keras calls a name where that is no rule; nothing where it is.
std::optional<std::string_view> keras_name(KerasTable table, std::string_view ours);
// Our name of what Keras calls so where that is no rule; nothing where it is.
std::optional<std::string_view> name_of_keras(KerasTable table, std::string_view theirs);

bool is_model_class(std::string_view class_name);
// What TensorFlow.js calls a metric that it computes, too; else nothing.
std::optional<std::string_view> shared_metric(std::string_view name);

using RowTable = std::span<const nn::Row>;
// The row whose name is the same but for case and underscores, or null.
const nn::Row* find_row(RowTable rows, std::string_view name);
// The same, with short names: "mse". Returns the name that was found.
std::optional<std::string_view> find_any_name(RowTable rows, std::string_view name);

// The table whose rows the value of an option names.
std::optional<RowTable> table_of(std::string_view option);
bool is_activation_table(RowTable rows);

// Whether an option changes nothing for classes that do not have it.
bool is_neutral(std::string_view option, const Json& value);

struct LayerOption {
  std::string name;
  bool is_flag = false;
};
// The beginning of a value, for errors.
std::string shortened(const Json& json);

// A layer of Keras that is one of ours with these options; null if there is no such class.
struct KerasClass {
  std::string_view theirs, ours, options;
  bool is_left_out;  // only training notices that it is not there
};
const KerasClass* find_keras_class(std::string_view theirs);

// The options of a layer class; null if there is no such class.
const std::vector<LayerOption>* options_of_class(std::string_view class_name);

}  // namespace lathe::models
