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
                  std::string& mistake) {
  std::string text;
  reader(key, text);
  if (const auto found = ops::find_padding(text)) {
    padding = *found;
  } else {
    mistake =
        concat(reader.path_of(key), ": must be \"valid\" or \"same\", got ", json_string(text));
  }
}

void read_dtype(ObjectReader& reader, std::string_view key, graph::DType& dtype,
                std::string& mistake) {
  int32_t code = 0;
  reader(key, code);
  if (const auto found = dtype_of_code(code)) {
    dtype = *found;
  } else {
    mistake = concat(reader.path_of(key), ": there is no dtype ", code);
  }
}

Argument read_argument(ObjectReader& reader, const ops::Parameter& parameter,
                       std::string& mistake) {
  Argument argument;
  const Json* value = reader.require(parameter.name);
  argument.given = value != nullptr && !value->is_null();
  if (!argument.given && parameter.standard == "null") return argument;
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
        mistake = concat(reader.path_of(parameter.name), ": must be one integer");
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
      read_padding(reader, parameter.name, argument.padding, mistake);
      break;
    case ParameterType::DType:
      read_dtype(reader, parameter.name, argument.dtype, mistake);
      break;
  }
  return argument;
}

// The default of a parameter, if it has one.
std::optional<Json> standard_of(const ops::Parameter& parameter) {
  if (parameter.standard.empty()) return std::nullopt;
  static std::map<std::string_view, Json> known;
  const auto [at, is_new] = known.try_emplace(parameter.standard);
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
  LATHE_ASSIGN_OR_RETURN(const size_t given, words.count());
  size_t wanted = 0;
  bool any_number = false;
  for (const ops::Parameter& parameter : operation.parameters) {
    wanted += is_tensor(parameter);
    any_number = any_number || parameter.type == ParameterType::Tensors;
  }
  if (given == wanted || (any_number && given >= wanted)) return given;
  return fail(concat(operation.name, ": takes ", wanted, any_number ? " or more" : "",
                     " tensors, got ", given));
}

Result<std::vector<Argument>> read_arguments(const Operation& operation, WordReader& words) {
  std::vector<Argument> arguments;
  if (!is_tensor(operation.parameters.back())) {
    Json attributes = Json::object();
    ObjectReader reader(attributes, operation.name);
    std::string mistake;
    for (const ops::Parameter& parameter : operation.parameters) {
      if (is_tensor(parameter)) continue;
      std::optional<Json> value;
      if (!words.done()) {
        LATHE_ASSIGN_OR_RETURN(value, words.value(parameter.name));
      }
      if (!value) value = standard_of(parameter);
      if (value) attributes.add(std::string(parameter.name), std::move(*value));
      arguments.push_back(read_argument(reader, parameter, mistake));
    }
    LATHE_TRY(reader.finish());
    if (!mistake.empty()) return fail(std::move(mistake));
  }
  if (words.done()) return arguments;
  return fail(concat(operation.name, ": takes ", arguments.size(), " arguments after its tensors"));
}

}  // namespace lathe::api
