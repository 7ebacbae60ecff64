#include "api/graph_session.h"

#include "api/operation_words.h"
#include "base/text.h"
#include "grad/gradient.h"
#include "graph/infer.h"

namespace lathe::api {

using graph::Builder;
using graph::Tensor;

namespace {

struct Declaration {
  std::string name;
  graph::DType dtype = graph::DType::F32;
  graph::Shape shape;
};

Result<Declaration> read_declaration(GraphSession::Words words, std::string_view what, bool named) {
  WordReader reader(words, what);
  Declaration declaration;
  Json json = Json::object();
  if (named) {
    ASSIGN_OR_RETURN(json["name"], reader.value("name"));
  }
  ASSIGN_OR_RETURN(declaration.dtype, reader.dtype());
  ASSIGN_OR_RETURN(json["shape"], reader.value("shape"));
  TRY(reader.finish());
  ObjectReader fields(json, std::string(what));
  fields("name", declaration.name);
  fields.integers("shape", declaration.shape);
  TRY(fields.finish());
  return declaration;
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

// The tensor, or the builder's error under the name of what was called.
Result<Tensor> GraphSession::checked(Tensor tensor, std::string_view what) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  if (builder->ok()) return tensor;
  std::string message = builder->take_error();
  if (message.starts_with(concat(what, ":"))) return fail(std::move(message));
  return fail(concat(what, ": ", message));
}

Result<Tensor> GraphSession::input(Words declaration) {
  TRY(check_own("input"));
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(declaration, "input", true));
  return checked(builder->input(it.name, it.dtype, std::move(it.shape)), "input");
}

Result<Tensor> GraphSession::state(Words declaration) {
  TRY(check_own("variable"));
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(declaration, "variable", true));
  return checked(builder->state(it.name, it.dtype, std::move(it.shape)), "variable");
}

Result<Tensor> GraphSession::constant(Words type, SharedBytes data) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(type, "constant", false));
  return checked(builder->constant(it.dtype, std::move(it.shape), std::move(data)), "constant");
}

Result<Tensor> GraphSession::operation(Words words) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  WordReader reader(words, "operation");
  ASSIGN_OR_RETURN(const ops::Operation* const row, read_operation(reader));
  ASSIGN_OR_RETURN(const size_t count, read_operand_count(*row, reader));
  std::vector<Tensor> operands(count);
  for (Tensor& operand : operands) {
    ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    ASSIGN_OR_RETURN(operand, tensor(number));
  }
  ASSIGN_OR_RETURN(const std::vector<ops::Argument> arguments, read_arguments(*row, reader));
  return checked(ops::add_operation(*builder, *row, operands, arguments), row->name);
}

Result<std::vector<Tensor>> GraphSession::gradients(Words words) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(const std::vector<Tensor> given, tensors(words));
  if (given.empty()) return fail("gradients: a loss is needed");
  std::vector<Tensor> results = grad::gradients(*builder, given[0], std::span(given).subspan(1));
  TRY(checked(given[0], "gradients"));
  return results;
}

Result<std::vector<Tensor>> GraphSession::tensors(Words numbers) {
  WordReader reader(numbers, "values");
  std::vector<Tensor> found;
  while (!reader.done()) {
    ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    ASSIGN_OR_RETURN(found.emplace_back(), tensor(number));
  }
  return found;
}

Status GraphSession::output(std::string_view name, int32_t value) {
  TRY(check_own("output"));
  ASSIGN_OR_RETURN(const Tensor found, tensor(value));
  found.builder->output(name, found);
  TRY(checked(found, "output"));
  return {};
}

Status GraphSession::update(int32_t state, int32_t value) {
  TRY(check_own("assign"));
  ASSIGN_OR_RETURN(const Tensor target, tensor(state));
  ASSIGN_OR_RETURN(const Tensor source, tensor(value));
  target.builder->update(target, source);
  TRY(checked(target, "update"));
  return {};
}

Result<Executable> GraphSession::compile(std::string_view json) const {
  graph::Program program;
  for (const auto& each : entries_) program.entries.push_back(each->graph());
  return compile_program(std::move(program), json);
}

}  // namespace lathe::api
