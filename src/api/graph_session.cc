#include "lathe/api/graph_session.h"

#include <algorithm>

#include "lathe/api/operation_words.h"
#include "lathe/base/text.h"
#include "lathe/grad/gradient.h"
#include "lathe/graph/binary.h"
#include "lathe/graph/infer.h"
#include "lathe/graph/segment.h"

namespace lathe::api {

using graph::Builder;
using graph::Tensor;

namespace {

struct Declaration {
  std::string name;
  graph::DType dtype = graph::DType::F32;
  graph::Shape shape;
};

Status add(WordReader& words, std::string_view key, Json& object) {
  LATHE_ASSIGN_OR_RETURN(auto value, words.value(key));
  if (value) object.add(std::string(key), std::move(*value));
  return {};
}

Result<Declaration> read_declaration(GraphSession::Words words, std::string_view what, bool named) {
  WordReader reader(words, what);
  Declaration declaration;
  Json json = Json::object();
  if (named) {
    LATHE_TRY(add(reader, "name", json));
  }
  LATHE_ASSIGN_OR_RETURN(declaration.dtype, reader.dtype());
  LATHE_TRY(add(reader, "shape", json));
  LATHE_TRY(reader.finish());
  ObjectReader fields(json, std::string(what));
  if (named) fields.require("name");
  fields("name", declaration.name);
  fields.integers("shape", declaration.shape);
  LATHE_TRY(fields.finish());
  return declaration;
}

}  // namespace

GraphSession::GraphSession(graph::Graph graph) {
  entries_.push_back(std::make_unique<Builder>(std::move(graph)));
}

GraphSession::GraphSession(graph::Program program) {
  for (graph::Graph& each : program.entries)
    entries_.push_back(std::make_unique<Builder>(std::move(each)));
}

Result<GraphSession> GraphSession::decode(std::span<const uint8_t> bytes,
                                          std::span<const SharedBytes> constants) {
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, graph::decode(bytes, constants));
  return GraphSession(std::move(graph));
}

Status GraphSession::begin_entry(std::string_view name) {
  LATHE_TRY(check_not_borrowed("entry"));
  if (name.empty()) return fail("entry: the name is empty");
  entries_.push_back(std::make_unique<Builder>(std::string(name)));
  return {};
}

Result<Builder*> GraphSession::entry() {
  if (borrowed_ != nullptr) return borrowed_;
  if (entries_.empty()) return fail("the program has no entry yet");
  return entries_.back().get();
}

Status GraphSession::check_not_borrowed(std::string_view what) const {
  if (borrowed_ == nullptr) return {};
  return fail(concat(what,
                     ": not in the call of a layer, whose operands are its inputs and the weights "
                     "that addWeight made, and which returns its outputs"));
}

Result<Builder*> GraphSession::innermost() {
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, entry());
  return &bodies_.innermost(*builder);
}

Result<Tensor> GraphSession::tensor(int32_t value) {
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, entry());
  return bodies_.find(value, *builder);
}

// The tensor, or the builder's error under the name of what was called.
Result<Tensor> GraphSession::checked(Builder& builder, Tensor tensor, std::string_view what) {
  if (builder.ok()) return tensor;
  std::string message = builder.pop_error();
  if (message.starts_with(concat(what, ":"))) return fail(std::move(message));
  return fail(concat(what, ": ", message));
}

Result<Tensor> GraphSession::input(Words declaration) {
  if (!bodies_.is_open()) LATHE_TRY(check_not_borrowed("input"));
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, innermost());
  LATHE_ASSIGN_OR_RETURN(Declaration it, read_declaration(declaration, "input", true));
  return checked(*builder, builder->input(it.name, it.dtype, std::move(it.shape)), "input");
}

Result<Tensor> GraphSession::state(Words declaration) {
  LATHE_TRY(check_not_borrowed("variable"));
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, entry());
  LATHE_ASSIGN_OR_RETURN(Declaration it, read_declaration(declaration, "variable", true));
  return checked(*builder, builder->state(it.name, it.dtype, std::move(it.shape)), "variable");
}

Result<Tensor> GraphSession::constant(Words type, SharedBytes data) {
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, innermost());
  LATHE_ASSIGN_OR_RETURN(Declaration it, read_declaration(type, "constant", false));
  return checked(*builder, builder->constant(it.dtype, std::move(it.shape), std::move(data)),
                 "constant");
}

Result<Tensor> GraphSession::operation(Words words) {
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, innermost());
  WordReader reader(words, "operation");
  LATHE_ASSIGN_OR_RETURN(const ops::Operation* const row, read_operation(reader));
  LATHE_ASSIGN_OR_RETURN(const size_t count, read_operand_count(*row, reader));
  std::vector<Tensor> operands(count);
  for (Tensor& operand : operands) {
    LATHE_ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    LATHE_ASSIGN_OR_RETURN(operand, tensor(number));
  }
  LATHE_ASSIGN_OR_RETURN(const std::vector<ops::Argument> arguments, read_arguments(*row, reader));
  return checked(*builder, ops::add_operation(*builder, *row, operands, arguments), row->name);
}

Result<std::vector<Tensor>> GraphSession::gradients(Words words) {
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, innermost());
  WordReader reader(words, "gradients");
  LATHE_ASSIGN_OR_RETURN(const size_t pairs, reader.count());
  LATHE_ASSIGN_OR_RETURN(const std::vector<Tensor> operands, tensors(reader.rest()));
  const size_t count = pairs == 0 ? 1 : pairs;
  if (operands.size() < count + pairs) return fail("gradients: a loss is needed");
  const std::span<const Tensor> targets(operands.data(), count);
  const std::span<const Tensor> wrt = std::span(operands).subspan(count + pairs);
  LATHE_ASSIGN_OR_RETURN(const Builder* const around, entry());
  for (const Tensor& target : targets) {
    for (const Tensor& x : wrt) {
      if (bodies_.covers_all_paths(target.value, x.value, *around)) continue;
      return fail(
          "gradients: the loss depends on it outside of this branch or loop, too; compute them "
          "there");
    }
  }
  std::vector<Tensor> results =
      pairs == 0 ? grad::gradients(*builder, targets[0], wrt)
                 : grad::vjp(*builder, targets, std::span(operands).subspan(count, pairs), wrt);
  LATHE_TRY(checked(*builder, targets[0], "gradients"));
  return results;
}

Status GraphSession::begin_body() {
  LATHE_TRY(entry());
  bodies_.begin();
  return {};
}

Result<std::vector<Tensor>> GraphSession::cond(Words words) {
  WordReader reader(words, "cond");
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, entry());
  LATHE_ASSIGN_OR_RETURN(const int32_t number, reader.integer());
  LATHE_ASSIGN_OR_RETURN(const Tensor predicate, tensor(number));
  ops::Body bodies[2];
  for (ops::Body& body : bodies) {
    LATHE_ASSIGN_OR_RETURN(const int32_t ended, reader.integer());
    LATHE_ASSIGN_OR_RETURN(body, bodies_.release(ended, *builder));
  }
  LATHE_TRY(reader.finish());
  std::vector<Tensor> results = ops::cond(predicate, bodies[0], bodies[1]);
  LATHE_TRY(checked(*predicate.builder, predicate, "cond"));
  return results;
}

Result<std::vector<Tensor>> GraphSession::while_loop(Words words) {
  WordReader reader(words, "whileLoop");
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, entry());
  ops::Body bodies[2];
  for (ops::Body& body : bodies) {
    LATHE_ASSIGN_OR_RETURN(const int32_t ended, reader.integer());
    LATHE_ASSIGN_OR_RETURN(body, bodies_.release(ended, *builder));
  }
  LATHE_ASSIGN_OR_RETURN(const int32_t max_iterations, reader.integer());
  std::vector<Tensor> initial;
  while (!reader.done()) {
    LATHE_ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    LATHE_ASSIGN_OR_RETURN(const Tensor value, tensor(number));
    initial.push_back(value);
  }
  if (initial.empty()) return fail("whileLoop: a variable is needed");
  std::vector<Tensor> results = ops::while_loop(bodies[0], bodies[1], initial, max_iterations);
  LATHE_TRY(checked(*initial[0].builder, initial[0], "whileLoop"));
  return results;
}

Result<std::vector<Tensor>> GraphSession::tensors(Words numbers) {
  WordReader reader(numbers, "values");
  std::vector<Tensor> found;
  while (!reader.done()) {
    LATHE_ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    LATHE_ASSIGN_OR_RETURN(const Tensor value, tensor(number));
    found.push_back(value);
  }
  return found;
}

Status GraphSession::output(std::string_view name, int32_t value) {
  if (!bodies_.is_open()) LATHE_TRY(check_not_borrowed("output"));
  LATHE_ASSIGN_OR_RETURN(const Tensor found, tensor(value));
  found.builder->output(name, found);
  LATHE_TRY(checked(*found.builder, found, "output"));
  return {};
}

Status GraphSession::update(int32_t state, int32_t value) {
  LATHE_TRY(check_not_borrowed("assign"));
  if (bodies_.is_open()) {
    return fail("assign: not in a branch or loop; return the value from it and assign the result");
  }
  LATHE_ASSIGN_OR_RETURN(const Tensor target, tensor(state));
  LATHE_ASSIGN_OR_RETURN(const Tensor source, tensor(value));
  target.builder->update(target, source);
  LATHE_TRY(checked(*target.builder, target, "update"));
  return {};
}

Result<std::vector<Tensor>> GraphSession::inlined(GraphSession& other, Words numbers) {
  LATHE_ASSIGN_OR_RETURN(const Builder* const body, other.entry());
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, innermost());
  LATHE_ASSIGN_OR_RETURN(const std::vector<Tensor> arguments, tensors(numbers));
  const graph::Graph& graph = body->graph();
  const std::vector<graph::Value> inputs = graph::inputs_of(graph);
  bool fits = arguments.size() == inputs.size();
  for (size_t k = 0; fits && k < inputs.size(); ++k) {
    const graph::Node& input = graph[inputs[k]];
    fits = arguments[k].dtype() == input.dtype && arguments[k].shape() == input.shape;
  }
  if (!fits) return fail("inline: the values do not have the types of the inputs");
  std::vector<Tensor> results = builder->inlined(graph, arguments);
  if (!builder->ok()) return fail(builder->pop_error());
  return results;
}

Result<GraphSession> GraphSession::segment(Words words) {
  WordReader reader(words, "segment");
  LATHE_ASSIGN_OR_RETURN(Builder* const builder, entry());
  if (borrowed_ != nullptr || entries_.size() != 1 || bodies_.is_open()) {
    return fail("segment: expected a program of one entry, outside of branches and loops");
  }
  LATHE_ASSIGN_OR_RETURN(const size_t index, reader.count());
  LATHE_ASSIGN_OR_RETURN(const size_t count, reader.count());
  std::vector<graph::Value> boundaries, requested;
  while (!reader.done()) {
    LATHE_ASSIGN_OR_RETURN(const int32_t number, reader.integer());
    LATHE_ASSIGN_OR_RETURN(const Tensor value, tensor(number));
    (boundaries.size() < count ? boundaries : requested).push_back(value.value);
  }
  if (boundaries.size() < count || index > count || !std::ranges::is_sorted(boundaries)) {
    return fail("segment: the boundary values are missing or not in ascending order");
  }
  return GraphSession(graph::segment(builder->graph(), boundaries, index, requested));
}

graph::Program GraphSession::program() const {
  graph::Program program;
  for (const auto& each : entries_) program.entries.push_back(each->graph());
  return program;
}

Result<graph::Encoded> GraphSession::encode(int32_t entry, bool keeps_float16) const {
  if (entry < 0 || static_cast<size_t>(entry) >= entries_.size()) {
    return fail(concat("the program has no entry ", entry));
  }
  return graph::encode(
      compile::optimized(entries_[static_cast<size_t>(entry)]->graph(), keeps_float16));
}

Result<Executable> GraphSession::compile(std::string_view json) const {
  return compile_program(program(), json);
}

Result<Executable> GraphSession::compile_and_release(std::string_view json) {
  graph::Program released = program();
  entries_.clear();
  return compile_program(std::move(released), json);
}

}  // namespace lathe::api
