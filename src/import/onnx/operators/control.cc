// Branches and loops. A loop becomes one node of the graph if possible; if its types change, or its
// body requires run-time data, it is unrolled.
#include "lathe/import/onnx/operators/control.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/control.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

using graph::Repetition;

namespace {

bool is_single(const Content& content) {
  return content.type != Type::String && content.count() == 1;
}

// Maximum number of unrolled steps.
constexpr int64_t kMaxUnrolledSteps = 10000;

Content number_of(int64_t value) { return integers_content(Type::Int64, {}, {value}); }
Content truth_of(bool value) { return integers_content(Type::Bool, {}, {value ? 1 : 0}); }

// Without axes, as conditions are.
Tensor flag(Tensor x) { return x.builder->reshape(x, {}); }

Result<std::optional<ops::Body>> branch(Tracer& tracer, const GraphProto& graph, Values& types) {
  tracer.begin_body();
  auto outputs = tracer.inlined(graph, {});
  if (!outputs || !all_tensors(*outputs)) {
    tracer.drop_body();
    if (!outputs && !tracer.must_unroll()) return std::unexpected(std::move(outputs.error()));
    return std::nullopt;
  }
  std::vector<Tensor> tensors;
  for (const Value& each : *outputs) tensors.push_back(tracer.tensor(each));
  for (const Value& each : *outputs) {
    Value type = each;
    type.constant =
        std::make_shared<const Content>(Content{.type = each.type, .shape = each.shape()});
    types.push_back(std::move(type));
  }
  LATHE_ASSIGN_OR_RETURN(Tracer::Body body, tracer.end_body(tensors));
  return ops::Body{std::move(body.graph), std::move(body.captures)};
}

// Both branches in the graph; nothing where they cannot be.
Result<std::optional<Values>> both(Call& call, const GraphProto& then,
                                   const GraphProto& otherwise) {
  Tracer& tracer = call.tracer();
  Values types, other_types;
  LATHE_ASSIGN_OR_RETURN(const auto first, branch(tracer, then, types));
  if (!first) return std::nullopt;
  LATHE_ASSIGN_OR_RETURN(const auto second, branch(tracer, otherwise, other_types));
  if (!second || !std::ranges::equal(types, other_types, same_types)) return std::nullopt;
  const std::vector<Tensor> results = ops::cond(flag(call.tensor(0)), *first, *second);
  Values values;
  for (size_t k = 0; k < results.size(); ++k) values.emplace_back(results[k], types[k].type);
  return values;
}

}  // namespace

Result<Values> if_(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const GraphProto* then, graph_of(call, "then_branch"));
  LATHE_ASSIGN_OR_RETURN(const GraphProto* otherwise, graph_of(call, "else_branch"));
  Tracer& tracer = call.tracer();
  auto condition = call.integer(0);
  if (condition) return tracer.inlined(*condition != 0 ? *then : *otherwise, {});
  if (!tracer.is_inside_body() || !tracer.must_unroll()) {
    return std::unexpected(std::move(condition.error()));
  }
  LATHE_ASSIGN_OR_RETURN(auto values, both(call, *then, *otherwise));
  if (values) return std::move(*values);
  return tracer.unroll("its branches differ in their types");
}

namespace {

// A Loop node: its operands and the outputs of its body.
struct LoopCall {
  const GraphProto* body;
  std::optional<int64_t> steps;  // maximum; nothing if only the condition ends it
  Values states;
  size_t scanned;  // outputs that are stacked
};

// Whether the condition stays true once it is.
bool is_always_true(Tracer& tracer, const Value& condition, Tensor arguments) {
  if (condition.tensor.valid() && condition.tensor.value == arguments.value &&
      condition.tensor.builder == arguments.builder) {
    return true;
  }
  const auto content = tracer.peek(condition);
  return content && content->integer(0) != 0;
}

// The loop as one node; nothing if that is not possible.
Result<std::optional<Values>> as_node(Call& call, const LoopCall& loop, int64_t steps) {
  Tracer& tracer = call.tracer();
  if (!all_tensors(loop.states)) return std::nullopt;
  const Tensor start = call.has(1) ? flag(call.tensor(1)) : tracer.tensor(Value(truth_of(true)));
  // Loop-carried: the condition, the number of steps so far, then the values of the loop.
  std::vector<Tensor> operands = {start, tracer.tensor(Value(number_of(0)))};
  for (const Value& each : loop.states) operands.push_back(tracer.tensor(each));
  tracer.begin_body();
  graph::Builder& inner = tracer.builder();
  const Tensor condition = inner.input("condition", DType::Bool, {});
  const Tensor step = inner.input("step", DType::I64, {});
  Values arguments = {Value(step), Value(condition)};
  for (size_t k = 0; k < loop.states.size(); ++k) {
    arguments.emplace_back(
        inner.input(concat("carried", k), operands[k + 2].dtype(), operands[k + 2].shape()),
        loop.states[k].type);
  }
  auto outputs = tracer.inlined(*loop.body, std::move(arguments));
  bool fits = outputs && all_tensors(*outputs);
  for (size_t k = 0; fits && k < loop.states.size(); ++k) {
    fits = same_types((*outputs)[k + 1], loop.states[k]);
  }
  if (!fits) {
    tracer.drop_body();
    if (!outputs && !tracer.must_unroll()) return std::unexpected(std::move(outputs.error()));
    return std::nullopt;
  }
  const auto begins = tracer.peek(call.operand(1));
  const bool runs_all =
      (!call.has(1) || (begins && is_single(*begins) && begins->integer(0) != 0)) &&
      is_always_true(tracer, (*outputs)[0], condition);
  std::vector<Tensor> results = {flag(tracer.tensor((*outputs)[0])),
                                 step + tracer.tensor(Value(number_of(1)))};
  for (size_t k = 1; k < outputs->size(); ++k) results.push_back(tracer.tensor((*outputs)[k]));
  LATHE_ASSIGN_OR_RETURN(Tracer::Body body, tracer.end_body(results));
  operands.insert(operands.end(), body.captures.begin(), body.captures.end());
  const Repetition repetition{.steps = steps,
                              .carried = static_cast<int>(loop.states.size()) + 2,
                              .sliced = 0,
                              .condition = runs_all ? -1 : 0};
  const std::vector<Tensor> last =
      tracer.builder().loop(operands, repetition, false, std::move(body.graph));
  if (!tracer.builder().ok()) return Values{};
  Values values;
  for (size_t k = 0; k < loop.states.size(); ++k) {
    values.emplace_back(last[k + 2], loop.states[k].type);
  }
  int64_t ran = steps;
  if (loop.scanned > 0 && !runs_all) {
    LATHE_ASSIGN_OR_RETURN(const Content count, tracer.content(Value(last[1])));
    ran = count.integer(0);
  }
  for (size_t k = loop.states.size() + 2; k < last.size(); ++k) {
    const Tensor stack = ran == steps ? last[k] : ops::slice(last[k], {0}, Shape{ran});
    values.emplace_back(stack, (*outputs)[k - 1].type);
  }
  return values;
}

// Unrolls the loop.
Result<Values> unrolled(Call& call, LoopCall loop) {
  Tracer& tracer = call.tracer();
  Value condition = call.has(1) ? call.operand(1) : Value(truth_of(true));
  std::vector<Values> scans(loop.scanned);
  for (int64_t step = 0; !loop.steps || step < *loop.steps; ++step) {
    LATHE_ASSIGN_OR_RETURN(const Content runs, tracer.content(condition));
    if (!is_single(runs)) return call.reject("its condition must be one truth");
    if (runs.integer(0) == 0) break;
    if (step == kMaxUnrolledSteps) {
      return call.reject(
          concat("must be unrolled, but has more than ", kMaxUnrolledSteps, " steps"));
    }
    Values arguments = {Value(number_of(step)), condition};
    arguments.insert(arguments.end(), loop.states.begin(), loop.states.end());
    LATHE_ASSIGN_OR_RETURN(Values outputs, tracer.inlined(*loop.body, std::move(arguments)));
    condition = outputs[0];
    for (size_t k = 0; k < loop.states.size(); ++k) loop.states[k] = outputs[k + 1];
    for (size_t k = 0; k < loop.scanned; ++k) {
      scans[k].push_back(outputs[k + 1 + loop.states.size()]);
    }
  }
  Values values = loop.states;
  for (size_t k = 0; k < loop.scanned; ++k) {
    if (!scans[k].empty()) {
      values.push_back(stacked(tracer, scans[k], 0));
      continue;
    }
    // Without steps the shape is that of the declaration, if any.
    const TypeProto& type = loop.body->outputs[k + 1 + loop.states.size()].type;
    Shape shape = {0};
    for (const Size& each : type.shape) shape.push_back(std::max<int64_t>(each.value, 0));
    values.push_back(Value(Content{.type = type.type, .shape = std::move(shape)}));
  }
  return values;
}

}  // namespace

Result<Values> loop(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const GraphProto* body, graph_of(call, "body"));
  const size_t states = call.operands() > 2 ? call.operands() - 2 : 0;
  if (body->inputs.size() != states + 2 || body->outputs.size() < states + 1) {
    return call.reject(
        concat("its body must have ", states + 2, " inputs and at least ", states + 1, " outputs"));
  }
  LoopCall loop{
      .body = body, .steps = {}, .states = {}, .scanned = body->outputs.size() - states - 1};
  for (size_t k = 0; k < states; ++k) loop.states.push_back(call.operand(k + 2));
  if (call.has(0)) {
    LATHE_ASSIGN_OR_RETURN(const int64_t max_steps, call.integer(0));
    if (max_steps < graph::kUnboundedSteps) loop.steps = std::max<int64_t>(max_steps, 0);
  }
  const bool is_short = loop.steps && *loop.steps > 0;
  if (is_short || (!loop.steps && loop.scanned == 0)) {
    LATHE_ASSIGN_OR_RETURN(auto values,
                           as_node(call, loop, loop.steps.value_or(graph::kUnboundedSteps)));
    if (values) return std::move(*values);
  }
  return unrolled(call, std::move(loop));
}

}  // namespace lathe::onnx::rows
