#include "api/graph_session.h"

#include <algorithm>

#include "api/operation_words.h"
#include "base/text.h"
#include "grad/gradient.h"
#include "graph/infer.h"
#include "graph/segment.h"

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

Result<Builder*> GraphSession::innermost() {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  return &bodies_.innermost(*builder);
}

Result<Tensor> GraphSession::tensor(int32_t value) {
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  return bodies_.find(value, *builder);
}

// The tensor, or the builder's error under the name of what was called.
Result<Tensor> GraphSession::checked(Builder& builder, Tensor tensor, std::string_view what) {
  if (builder.ok()) return tensor;
  std::string message = builder.take_error();
  if (message.starts_with(concat(what, ":"))) return fail(std::move(message));
  return fail(concat(what, ": ", message));
}

Result<Tensor> GraphSession::input(Words declaration) {
  if (!bodies_.is_open()) TRY(check_own("input"));
  ASSIGN_OR_RETURN(Builder* const builder, innermost());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(declaration, "input", true));
  return checked(*builder, builder->input(it.name, it.dtype, std::move(it.shape)), "input");
}

Result<Tensor> GraphSession::state(Words declaration) {
  TRY(check_own("variable"));
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(declaration, "variable", true));
  return checked(*builder, builder->state(it.name, it.dtype, std::move(it.shape)), "variable");
}

Result<Tensor> GraphSession::constant(Words type, SharedBytes data) {
  ASSIGN_OR_RETURN(Builder* const builder, innermost());
  ASSIGN_OR_RETURN(Declaration it, read_declaration(type, "constant", false));
  return checked(*builder, builder->constant(it.dtype, std::move(it.shape), std::move(data)),
                 "constant");
}

Result<Tensor> GraphSession::operation(Words words) {
  ASSIGN_OR_RETURN(Builder* const builder, innermost());
  WordReader reader(words, "operation");
  ASSIGN_OR_RETURN(const ops::Operation* const row, read_operation(reader));
  ASSIGN_OR_RETURN(const size_t count, read_operand_count(*row, reader));
  std::vector<Tensor> operands(count);
  for (Tensor& operand : operands) {
    ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    ASSIGN_OR_RETURN(operand, tensor(number));
  }
  ASSIGN_OR_RETURN(const std::vector<ops::Argument> arguments, read_arguments(*row, reader));
  return checked(*builder, ops::add_operation(*builder, *row, operands, arguments), row->name);
}

Result<std::vector<Tensor>> GraphSession::gradients(Words words) {
  ASSIGN_OR_RETURN(Builder* const builder, innermost());
  ASSIGN_OR_RETURN(const std::vector<Tensor> given, tensors(words));
  if (given.empty()) return fail("gradients: a loss is needed");
  ASSIGN_OR_RETURN(const Builder* const around, entry());
  for (const Tensor& x : std::span(given).subspan(1)) {
    if (bodies_.sees_all(given[0].value, x.value, *around)) continue;
    return fail(
        "gradients: the loss depends on it outside of this branch or loop, too; take them there");
  }
  std::vector<Tensor> results = grad::gradients(*builder, given[0], std::span(given).subspan(1));
  TRY(checked(*builder, given[0], "gradients"));
  return results;
}

Status GraphSession::begin_body() {
  TRY(entry());
  bodies_.begin();
  return {};
}

Result<std::vector<Tensor>> GraphSession::cond(Words words) {
  WordReader reader(words, "cond");
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ASSIGN_OR_RETURN(const int32_t number, reader.integer());
  ASSIGN_OR_RETURN(const Tensor predicate, tensor(number));
  ops::Body bodies[2];
  for (ops::Body& body : bodies) {
    ASSIGN_OR_RETURN(const int32_t ended, reader.integer());
    ASSIGN_OR_RETURN(body, bodies_.take(ended, *builder));
  }
  TRY(reader.finish());
  std::vector<Tensor> results = ops::cond(predicate, bodies[0], bodies[1]);
  TRY(checked(*predicate.builder, predicate, "cond"));
  return results;
}

Result<std::vector<Tensor>> GraphSession::while_loop(Words words) {
  WordReader reader(words, "whileLoop");
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  ops::Body bodies[2];
  for (ops::Body& body : bodies) {
    ASSIGN_OR_RETURN(const int32_t ended, reader.integer());
    ASSIGN_OR_RETURN(body, bodies_.take(ended, *builder));
  }
  ASSIGN_OR_RETURN(const int32_t most, reader.integer());
  std::vector<Tensor> initial;
  while (!reader.done()) {
    ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    ASSIGN_OR_RETURN(initial.emplace_back(), tensor(number));
  }
  if (initial.empty()) return fail("whileLoop: a variable is needed");
  std::vector<Tensor> results = ops::while_loop(bodies[0], bodies[1], initial, most);
  TRY(checked(*initial[0].builder, initial[0], "whileLoop"));
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
  if (!bodies_.is_open()) TRY(check_own("output"));
  ASSIGN_OR_RETURN(const Tensor found, tensor(value));
  found.builder->output(name, found);
  TRY(checked(*found.builder, found, "output"));
  return {};
}

Status GraphSession::update(int32_t state, int32_t value) {
  TRY(check_own("assign"));
  if (bodies_.is_open()) {
    return fail(
        "assign: not in a branch or loop; return the value from it and assign what it gives");
  }
  ASSIGN_OR_RETURN(const Tensor target, tensor(state));
  ASSIGN_OR_RETURN(const Tensor source, tensor(value));
  target.builder->update(target, source);
  TRY(checked(*target.builder, target, "update"));
  return {};
}

Result<GraphSession> GraphSession::segment(Words words) {
  WordReader reader(words, "segment");
  ASSIGN_OR_RETURN(Builder* const builder, entry());
  if (lent_ != nullptr || entries_.size() != 1 || bodies_.is_open()) {
    return fail("segment: wants a program of one entry, outside of branches and loops");
  }
  ASSIGN_OR_RETURN(const size_t index, reader.count());
  ASSIGN_OR_RETURN(const size_t count, reader.count());
  std::vector<graph::Value> cuts, wanted;
  while (!reader.done()) {
    ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    ASSIGN_OR_RETURN(const Tensor value, tensor(number));
    (cuts.size() < count ? cuts : wanted).push_back(value.value);
  }
  if (cuts.size() < count || index > count || !std::ranges::is_sorted(cuts)) {
    return fail("segment: values to cut behind are missing or not in order");
  }
  GraphSession result;
  result.entries_.push_back(
      std::make_unique<Builder>(graph::segment(builder->graph(), cuts, index, wanted)));
  return result;
}

Result<Executable> GraphSession::compile(std::string_view json) const {
  graph::Program program;
  for (const auto& each : entries_) program.entries.push_back(each->graph());
  return compile_program(std::move(program), json);
}

}  // namespace lathe::api
