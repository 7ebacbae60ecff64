#include "lathe/api/operation_words.h"

#include <map>

#include "lathe/base/text.h"

namespace lathe::api {

using ops::Argument;
using ops::Operation;
using ops::ParameterType;

namespace {

bool is_tensor(const ops::Parameter& parameter) {
  return parameter.type == ParameterType::Tensor || parameter.type == ParameterType::Tensors;
}

void read_padding(ObjectReader& reader, std::string_view key, ops::Padding& padding,
                  std::string& error) {
  std::string text;
  reader(key, text);
  if (const auto found = ops::find_padding(text)) {
    padding = *found;
  } else {
    error = concat(reader.path_of(key), ": must be \"valid\" or \"same\", got ", json_string(text));
  }
}

void read_dtype(ObjectReader& reader, std::string_view key, graph::DType& dtype,
                std::string& error) {
  int32_t code = 0;
  reader(key, code);
  if (const auto found = dtype_of_code(code)) {
    dtype = *found;
  } else {
    error = concat(reader.path_of(key), ": there is no dtype ", code);
  }
}

Argument read_argument(ObjectReader& reader, const ops::Parameter& parameter, std::string& error) {
  Argument argument;
  const Json* value = reader.require(parameter.name);
  argument.has_value = value != nullptr && !value->is_null();
  if (!argument.has_value && parameter.standard == "null") return argument;
  switch (parameter.type) {
    case ParameterType::Tensor:
    case ParameterType::Tensors:
      break;
    case ParameterType::Flag: {
      bool flag = false;
      reader(parameter.name, flag);
      argument.number = flag;
      break;
    }
    case ParameterType::Number:
      reader.number(parameter.name, argument.number);
      break;
    case ParameterType::Integer: {
      std::vector<int64_t> one;
      reader.integers(parameter.name, one);
      argument.number = one.size() == 1 ? static_cast<double>(one[0]) : 0;
      if (one.size() > 1) {
        error = concat(reader.path_of(parameter.name), ": must be one integer");
      }
      break;
    }
    case ParameterType::Integers:
      reader.integers(parameter.name, argument.integers);
      break;
    case ParameterType::IntegerPairs:
      reader.pairs(parameter.name, argument.pairs);
      break;
    case ParameterType::Padding:
      read_padding(reader, parameter.name, argument.padding, error);
      break;
    case ParameterType::DType:
      read_dtype(reader, parameter.name, argument.dtype, error);
      break;
  }
  return argument;
}

// The default of a parameter, if it has one.
std::optional<Json> standard_of(const ops::Parameter& parameter) {
  if (parameter.standard.empty()) return std::nullopt;
  static std::map<std::string_view, Json> cache;
  const auto [at, is_new] = cache.try_emplace(parameter.standard);
  if (is_new) at->second = std::move(*parse_json(parameter.standard));
  return at->second;
}

}  // namespace

Result<const Operation*> read_operation(WordReader& words) {
  LATHE_ASSIGN_OR_RETURN(const int32_t code, words.integer());
  const auto rows = ops::operations();
  if (code < 0 || static_cast<size_t>(code) >= rows.size()) {
    return fail(concat("there is no operation ", code));
  }
  const Operation& row = rows[static_cast<size_t>(code)];
  words.rename(row.name);
  return &row;
}

Result<size_t> read_operand_count(const Operation& operation, WordReader& words) {
  LATHE_ASSIGN_OR_RETURN(const size_t actual, words.count());
  size_t expected = 0;
  bool any_number = false;
  for (const ops::Parameter& parameter : operation.parameters) {
    expected += is_tensor(parameter);
    any_number = any_number || parameter.type == ParameterType::Tensors;
  }
  if (actual == expected || (any_number && actual >= expected)) return actual;
  return fail(concat(operation.name, ": expects ", expected, any_number ? " or more" : "",
                     " tensors, got ", actual));
}

Result<std::vector<Argument>> read_arguments(const Operation& operation, WordReader& words) {
  std::vector<Argument> arguments;
  if (!is_tensor(operation.parameters.back())) {
    Json attributes = Json::object();
    ObjectReader reader(attributes, operation.name);
    std::string error;
    for (const ops::Parameter& parameter : operation.parameters) {
      if (is_tensor(parameter)) continue;
      std::optional<Json> value;
      if (!words.done()) {
        LATHE_ASSIGN_OR_RETURN(value, words.value(parameter.name));
      }
      if (!value) value = standard_of(parameter);
      if (value) attributes.add(std::string(parameter.name), std::move(*value));
      arguments.push_back(read_argument(reader, parameter, error));
    }
    LATHE_TRY(reader.finish());
    if (!error.empty()) return fail(std::move(error));
  }
  if (words.done()) return arguments;
  return fail(
      concat(operation.name, ": expects ", arguments.size(), " arguments after its tensors"));
}

}  // namespace lathe::api
