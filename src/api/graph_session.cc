#include "api/graph_session.h"

#include <algorithm>

#include "api/json_reader.h"
#include "base/text.h"
#include "grad/gradient.h"
#include "graph/infer.h"
#include "nn/tables.h"
#include "ops/operations.h"

namespace lathe::api {

using graph::Builder;
using graph::Tensor;
using ops::Argument;
using ops::Operation;
using ops::ParameterType;

namespace {

struct Declaration {
  std::string name;
  graph::DType dtype = graph::DType::F32;
  graph::Shape shape;
};

void read_dtype(ObjectReader& reader, std::string_view key, graph::DType& dtype,
                std::string& mistake) {
  std::string text(scalar::text(dtype));
  reader(key, text);
  if (const auto found = scalar::dtype_of(text)) {
    dtype = *found;
  } else {
    mistake = concat(reader.path_of(key), ": unknown dtype ", json_string(text));
  }
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

Result<Declaration> read_declaration(std::string_view text, std::string what, bool named) {
  ASSIGN_OR_RETURN(const Json json, parse_json(text));
  ObjectReader reader(json, std::move(what));
  Declaration declaration;
  std::string mistake;
  if (named) {
    reader.require("name");
    reader("name", declaration.name);
  }
  read_dtype(reader, "dtype", declaration.dtype, mistake);
  reader.require("shape");
  reader.integers("shape", declaration.shape);
  TRY(reader.finish());
  if (!mistake.empty()) return fail(std::move(mistake));
  return declaration;
}

Result<const Operation*> find_operation(std::string_view name) {
  const auto all = ops::operations();
  const auto found = std::ranges::find(all, name, &Operation::name);
  if (found != all.end()) return &*found;
  std::vector<std::string_view> known;
  for (const Operation& each : all) known.push_back(each.name);
  return fail(nn::unknown_name("operation", name, known));
}

bool is_tensor(const ops::Parameter& parameter) {
  return parameter.type == ParameterType::Tensor || parameter.type == ParameterType::Tensors;
}

void read_argument(ObjectReader& reader, const ops::Parameter& parameter, Argument& argument,
                   std::string& mistake) {
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
    case ParameterType::Pairs:
      reader.pairs(parameter.name, argument.pairs);
      break;
    case ParameterType::Padding:
      read_padding(reader, parameter.name, argument.padding, mistake);
      break;
    case ParameterType::DType:
      read_dtype(reader, parameter.name, argument.dtype, mistake);
      break;
  }
}

// The values of the parameters that are no tensors, from the attributes and the row's defaults.
Result<std::vector<Argument>> read_arguments(const Operation& operation, Json attributes) {
  if (attributes.is_null()) attributes = Json::object();
  if (attributes.is_object()) {
    for (const ops::Parameter& parameter : operation.parameters) {
      if (parameter.standard.empty() || attributes.contains(parameter.name)) continue;
      ASSIGN_OR_RETURN(attributes[std::string(parameter.name)], parse_json(parameter.standard));
    }
  }
  ObjectReader reader(attributes, operation.name);
  std::vector<Argument> arguments;
  std::string mistake;
  for (const ops::Parameter& parameter : operation.parameters) {
    if (is_tensor(parameter)) continue;
    Argument& argument = arguments.emplace_back();
    const Json* value = reader.require(parameter.name);
    argument.given = value != nullptr && !value->is_null();
    if (argument.given || parameter.standard != "null") {
      read_argument(reader, parameter, argument, mistake);
    }
  }
  TRY(reader.finish());
  if (!mistake.empty()) return fail(std::move(mistake));
  return arguments;
}

Status check_operand_count(const Operation& operation, size_t given) {
  size_t wanted = 0;
  bool any_number = false;
  for (const ops::Parameter& parameter : operation.parameters) {
    wanted += is_tensor(parameter);
    any_number = any_number || parameter.type == ParameterType::Tensors;
  }
  if (given == wanted || (any_number && given >= wanted)) return {};
  return fail(concat(operation.name, ": takes ", wanted, any_number ? " or more" : "",
                     " tensors, not ", given));
}

}  // namespace

Status GraphSession::begin_entry(std::string_view name) {
  TRY(check_own("entry"));
  if (name.empty()) return fail("entry: the name is empty");
  entries_.push_back(std::make_unique<Builder>(std::string(name)));
  return {};
}

Result<Builder*> GraphSession::entry() {
  if (lent_ != nullptr) return lent_;
  if (entries_.empty()) return fail("the program has no entry yet");
  return entries_.back().get();
}

Status GraphSession::check_own(std::string_view what) const {
  if (lent_ == nullptr) return {};
  return fail(concat(what,
                     ": not in the call of a layer, which takes its inputs and the weights "
                     "that addWeight made, and returns its outputs"));
}

Result<Tensor> GraphSession::tensor(int32_t value) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  const int64_t count = static_cast<int64_t>(builder->graph().nodes.size());
  if (value < 1 || value > count) {
    return fail(
        concat("there is no value ", value, " in entry ", json_string(builder->graph().name)));
  }
  return Tensor{builder, {value - 1}};
}

// The number of a new tensor, or the builder's error under the name of what was called.
Result<int32_t> GraphSession::checked_number(Tensor tensor, std::string_view what) {
  ASSIGN_OR_RETURN(Builder* const found, entry());
  Builder& builder = *found;
  if (builder.ok()) return number_of(tensor);
  std::string message = builder.take_error();
  if (message.starts_with(concat(what, ":"))) return fail(std::move(message));
  return fail(concat(what, ": ", message));
}

Result<int32_t> GraphSession::input(std::string_view json) {
  TRY(check_own("input"));
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(json, "input", true));
  return checked_number(builder->input(it.name, it.dtype, std::move(it.shape)), "input");
}

Result<int32_t> GraphSession::state(std::string_view json) {
  TRY(check_own("variable"));
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(json, "variable", true));
  return checked_number(builder->state(it.name, it.dtype, std::move(it.shape)), "variable");
}

Result<int32_t> GraphSession::constant(std::string_view json, SharedBytes data) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(json, "constant", false));
  return checked_number(builder->constant(it.dtype, std::move(it.shape), std::move(data)),
                        "constant");
}

Result<int32_t> GraphSession::operation(std::string_view text) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(const Json json, parse_json(text));
  ObjectReader reader(json, "");
  std::string name;
  std::vector<int64_t> numbers;
  reader.require("op");
  reader("op", name);
  reader.integers("operands", numbers);
  const Json* attributes = reader.find("attributes");
  TRY(reader.finish());
  ASSIGN_OR_RETURN(const Operation* const row, find_operation(name));
  TRY(check_operand_count(*row, numbers.size()));
  std::vector<Tensor> operands;
  for (const int64_t number : numbers) {
    ASSIGN_OR_RETURN(operands.emplace_back(), tensor(static_cast<int32_t>(number)));
  }
  ASSIGN_OR_RETURN(const std::vector<Argument> arguments,
                   read_arguments(*row, attributes == nullptr ? Json() : *attributes));
  return checked_number(ops::add_operation(*builder, *row, operands, arguments), name);
}

Result<std::string> GraphSession::gradients(std::string_view text) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(const Json json, parse_json(text));
  ObjectReader reader(json, "gradients");
  std::vector<int64_t> loss, numbers;
  reader.require("loss");
  reader.integers("loss", loss);
  reader.integers("wrt", numbers);
  TRY(reader.finish());
  ASSIGN_OR_RETURN(const Tensor root, tensor(loss.empty() ? 0 : static_cast<int32_t>(loss[0])));
  std::vector<Tensor> wrt;
  for (const int64_t number : numbers) {
    ASSIGN_OR_RETURN(wrt.emplace_back(), tensor(static_cast<int32_t>(number)));
  }
  std::vector<int32_t> result;
  for (const Tensor& each : grad::gradients(*builder, root, wrt)) {
    ASSIGN_OR_RETURN(result.emplace_back(), checked_number(each, "gradients"));
  }
  return bracketed(result);
}

Status GraphSession::output(std::string_view name, int32_t value) {
  TRY(check_own("output"));
  ASSIGN_OR_RETURN(const Tensor found, tensor(value));
  found.builder->output(name, found);
  TRY(checked_number(found, "output"));
  return {};
}

Status GraphSession::update(int32_t state, int32_t value) {
  TRY(check_own("assign"));
  ASSIGN_OR_RETURN(const Tensor target, tensor(state));
  ASSIGN_OR_RETURN(const Tensor source, tensor(value));
  target.builder->update(target, source);
  TRY(checked_number(target, "update"));
  return {};
}

Result<std::string> GraphSession::type(int32_t value) {
  ASSIGN_OR_RETURN(const Tensor found, tensor(value));
  return concat("{\"dtype\":\"", scalar::text(found.dtype()),
                "\",\"shape\":", bracketed(found.shape()), "}");
}

Result<Executable> GraphSession::compile(std::string_view json) const {
  graph::Program program;
  for (const auto& each : entries_) program.entries.push_back(each->graph());
  return compile_program(std::move(program), json);
}

}  // namespace lathe::api
