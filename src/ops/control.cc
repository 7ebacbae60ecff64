#include "lathe/ops/control.h"

#include <optional>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/graph/infer.h"

namespace lathe::ops {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Repetition;
using graph::Value;

namespace {

// Inputs of a body under construction, one for each of these tensors and of its type.
std::vector<Tensor> inputs_like(Builder& body, std::span<const Tensor> like) {
  std::vector<Tensor> inputs;
  for (const Tensor& x : like) {
    inputs.push_back(body.input(concat("in", body.graph().nodes.size()), x.dtype(), x.shape()));
  }
  return inputs;
}

std::vector<Tensor> concat_tensors(std::span<const Tensor> first, std::span<const Tensor> then) {
  std::vector<Tensor> all(first.begin(), first.end());
  all.insert(all.end(), then.begin(), then.end());
  return all;
}

std::vector<Tensor> loop(Builder& builder, std::span<const Tensor> operands, Repetition repetition,
                         Builder& body, std::span<const Tensor> outputs) {
  for (size_t k = 0; k < outputs.size(); ++k) body.output(concat("out", k), outputs[k]);
  auto graph = std::move(body).finish();
  if (graph) return builder.loop(operands, repetition, false, std::move(*graph));
  builder.error(std::move(graph.error().message));
  return std::vector<Tensor>(outputs.size(), Tensor{&builder, {}});
}

std::string type_string(const Graph& graph, Value value) {
  return graph::type_string(graph[value].dtype, graph[value].shape);
}

bool same_types(const Graph& a, Value x, const Graph& b, Value y) {
  return a[x].dtype == b[y].dtype && a[x].shape == b[y].shape;
}

// Why the results of the body are not of these types.
std::optional<std::string> mismatch(const Graph& body, std::span<const Tensor> variables) {
  if (body.outputs.size() != variables.size()) {
    return concat("returns ", body.outputs.size(), " tensors for ", variables.size(), " variables");
  }
  for (size_t k = 0; k < variables.size(); ++k) {
    const Value value = body.outputs[k].value;
    if (same_types(body, value, variables[k].builder->graph(), variables[k].value)) continue;
    return concat("changes variable ", k, ", ",
                  graph::type_string(variables[k].dtype(), variables[k].shape()), ", ",
                  type_string(body, value));
  }
  return std::nullopt;
}

std::vector<Tensor> fail_all(Builder& builder, size_t count, std::string message) {
  return std::vector<Tensor>(count, builder.error(std::move(message)));
}

bool is_flag(DType dtype, const graph::Shape& shape) {
  return dtype == DType::Bool && shape.empty();
}

// Runs the body, whose results replace `before`, where the flag is set.
std::vector<Tensor> run_if(Tensor flag, const Body& body, std::span<const Tensor> before) {
  Builder inner("body");
  inputs_like(inner, before);
  inputs_like(inner, {&flag, 1});
  const std::vector<Tensor> captures = inputs_like(inner, body.captures);
  const std::vector<Tensor> outputs = inner.inlined(body.graph, captures);
  const std::vector<Tensor> operands =
      concat_tensors(concat_tensors(before, {&flag, 1}), body.captures);
  const auto state_count = static_cast<int>(before.size());
  const Repetition once{.steps = 1, .carried = state_count, .sliced = 0, .condition = state_count};
  return loop(*flag.builder, operands, once, inner, outputs);
}

std::optional<Body> trace_body(Builder& outer, const BodyFunction& function, std::string_view name,
                               std::span<const Tensor> initial, std::span<const Tensor> operands) {
  Builder inner{std::string(name)};
  const std::vector<Tensor> outputs =
      function(inner, inputs_like(inner, concat_tensors(initial, operands)));
  for (size_t k = 0; k < outputs.size(); ++k) inner.output(concat("out", k), outputs[k]);
  auto graph = std::move(inner).finish();
  if (graph) return Body{std::move(*graph), {operands.begin(), operands.end()}};
  outer.error(std::move(graph.error().message));
  return std::nullopt;
}

// Whether the inputs are so many arguments and the captures.
bool fits(const Body& body, size_t arguments) {
  return inputs_of(body.graph).size() == arguments + body.captures.size();
}

bool are_valid(std::span<const Tensor> tensors) {
  for (const Tensor& each : tensors) {
    if (!each.valid()) return false;
  }
  return true;
}

}  // namespace

std::vector<Tensor> cond(Tensor predicate, const Body& then, const Body& otherwise) {
  Builder& builder = *predicate.builder;
  const Graph &a = then.graph, &b = otherwise.graph;
  const size_t count = a.outputs.size();
  if (!builder.ok() || !predicate.valid()) return std::vector<Tensor>(count, Tensor{&builder, {}});
  if (!is_flag(predicate.dtype(), predicate.shape())) {
    return fail_all(builder, count,
                    concat("cond: the predicate must be bool[], not ",
                           graph::type_string(predicate.dtype(), predicate.shape())));
  }
  if (!fits(then, 0) || !fits(otherwise, 0)) {
    return fail_all(builder, count, "cond: a branch must not have inputs");
  }
  if (b.outputs.size() != count) {
    return fail_all(
        builder, count,
        concat("cond: one branch returns ", count, " tensors, the other ", b.outputs.size()));
  }
  std::vector<Tensor> results;
  for (size_t k = 0; k < count; ++k) {
    const Value x = a.outputs[k].value, y = b.outputs[k].value;
    if (!same_types(a, x, b, y)) {
      return fail_all(builder, count,
                      concat("cond: as result ", k, " one branch returns ", type_string(a, x),
                             ", the other ", type_string(b, y)));
    }
    results.push_back(builder.full(a[x].shape, scalar::Number::from(a[x].dtype, 0)));
  }
  results = run_if(predicate, then, results);
  const Tensor operands[] = {predicate};
  return run_if(builder.map(graph::Op::Not, operands), otherwise, results);
}

std::vector<Tensor> cond(Tensor predicate, std::span<const Tensor> operands,
                         const BodyFunction& then, const BodyFunction& otherwise) {
  Builder& builder = *predicate.builder;
  if (!builder.ok() || !are_valid(operands)) return {};
  const auto first = trace_body(builder, then, "then", {}, operands);
  const auto second = trace_body(builder, otherwise, "else", {}, operands);
  if (!first || !second) return {};
  return cond(predicate, *first, *second);
}

std::vector<Tensor> while_loop(const Body& condition, const Body& body,
                               std::span<const Tensor> initial, int64_t max_iterations) {
  Builder& builder = *initial[0].builder;
  const size_t count = initial.size();
  if (!builder.ok() || !are_valid(initial)) return std::vector<Tensor>(count, Tensor{&builder, {}});
  if (max_iterations < 0 || max_iterations > graph::kUnboundedSteps) {
    return fail_all(builder, count,
                    concat("whileLoop: maxIterations ", max_iterations, " is not between 0 and ",
                           graph::kUnboundedSteps));
  }
  if (!fits(condition, count) || !fits(body, count)) {
    return fail_all(builder, count,
                    concat("whileLoop: condition and body must have ", count, " inputs"));
  }
  const Graph& test = condition.graph;
  if (test.outputs.size() != 1 ||
      !is_flag(test[test.outputs[0].value].dtype, test[test.outputs[0].value].shape)) {
    return fail_all(builder, count, "whileLoop: the condition must return one tensor, bool[]");
  }
  if (const auto why = mismatch(body.graph, initial)) {
    return fail_all(builder, count, concat("whileLoop: the body ", *why));
  }
  Builder inner("body");
  inner.input("runs", DType::Bool, {});
  const std::vector<Tensor> variables = inputs_like(inner, initial);
  const std::vector<Tensor> of_body = inputs_like(inner, body.captures);
  const std::vector<Tensor> of_test = inputs_like(inner, condition.captures);
  const std::vector<Tensor> next = inner.inlined(body.graph, concat_tensors(variables, of_body));
  const std::vector<Tensor> goes_on = inner.inlined(test, concat_tensors(next, of_test));
  const std::vector<Tensor> begins =
      builder.inlined(test, concat_tensors(initial, condition.captures));
  const std::vector<Tensor> captures = concat_tensors(body.captures, condition.captures);
  const std::vector<Tensor> operands = concat_tensors(concat_tensors(begins, initial), captures);
  const Repetition repetition{
      .steps = max_iterations, .carried = static_cast<int>(count) + 1, .sliced = 0, .condition = 0};
  std::vector<Tensor> results =
      loop(builder, operands, repetition, inner, concat_tensors(goes_on, next));
  results.erase(results.begin());
  return results;
}

std::vector<Tensor> while_loop(const BodyFunction& condition, const BodyFunction& body,
                               std::span<const Tensor> initial, std::span<const Tensor> operands,
                               int64_t max_iterations) {
  Builder& builder = *initial[0].builder;
  if (!builder.ok() || !are_valid(initial) || !are_valid(operands)) return {};
  const auto test = trace_body(builder, condition, "condition", initial, operands);
  const auto step = trace_body(builder, body, "body", initial, operands);
  if (!test || !step) return {};
  return while_loop(*test, *step, initial, max_iterations);
}

}  // namespace lathe::ops
