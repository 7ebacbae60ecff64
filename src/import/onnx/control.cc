// Branches and loops. Where a loop can be one node of the graph it is; where its types change, or
// data tells how it goes on, each step is written down alone.
#include "lathe/import/onnx/control.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators.h"
#include "lathe/import/onnx/tracer.h"
#include "lathe/ops/control.h"
#include "lathe/ops/movement.h"

namespace lathe::onnx::rows {

using graph::Repetition;

namespace {

bool is_single(const Content& content) {
  return content.type != Type::String && content.count() == 1;
}

// Steps that are written down one by one; more are refused.
constexpr int64_t kMostSteps = 10000;

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
    type.known = std::make_shared<const Content>(Content{.type = each.type, .shape = each.shape()});
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

// A loop of ONNX: what it is called with, and what its body says.
struct LoopCall {
  const GraphProto* body;
  std::optional<int64_t> steps;  // at most; nothing where only the condition ends it
  Values carried;
  size_t scanned;  // outputs that are stacked
};

// Whether the condition stays true once it is.
bool is_always_true(Tracer& tracer, const Value& condition, Tensor given) {
  if (condition.tensor.valid() && condition.tensor.value == given.value &&
      condition.tensor.builder == given.builder) {
    return true;
  }
  const auto content = tracer.peek(condition);
  return content && content->integer(0) != 0;
}

// The whole loop as one node; nothing where it cannot be.
Result<std::optional<Values>> as_node(Call& call, const LoopCall& loop, int64_t steps) {
  Tracer& tracer = call.tracer();
  if (!all_tensors(loop.carried)) return std::nullopt;
  const Tensor start = call.has(1) ? flag(call.tensor(1)) : tracer.tensor(Value(truth_of(true)));
  // Carried: the condition, how many steps have run, then the values of the loop.
  std::vector<Tensor> operands = {start, tracer.tensor(Value(number_of(0)))};
  for (const Value& each : loop.carried) operands.push_back(tracer.tensor(each));
  tracer.begin_body();
  graph::Builder& inner = tracer.builder();
  const Tensor condition = inner.input("condition", DType::Bool, {});
  const Tensor step = inner.input("step", DType::I64, {});
  Values given = {Value(step), Value(condition)};
  for (size_t k = 0; k < loop.carried.size(); ++k) {
    given.emplace_back(
        inner.input(concat("carried", k), operands[k + 2].dtype(), operands[k + 2].shape()),
        loop.carried[k].type);
  }
  auto outputs = tracer.inlined(*loop.body, std::move(given));
  bool fits = outputs && all_tensors(*outputs);
  for (size_t k = 0; fits && k < loop.carried.size(); ++k) {
    fits = same_types((*outputs)[k + 1], loop.carried[k]);
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
                              .carried = static_cast<int>(loop.carried.size()) + 2,
                              .sliced = 0,
                              .condition = runs_all ? -1 : 0};
  const std::vector<Tensor> last =
      tracer.builder().loop(operands, repetition, false, std::move(body.graph));
  if (!tracer.builder().ok()) return Values{};
  Values values;
  for (size_t k = 0; k < loop.carried.size(); ++k) {
    values.emplace_back(last[k + 2], loop.carried[k].type);
  }
  int64_t ran = steps;
  if (loop.scanned > 0 && !runs_all) {
    LATHE_ASSIGN_OR_RETURN(const Content count, tracer.content(Value(last[1])));
    ran = count.integer(0);
  }
  for (size_t k = loop.carried.size() + 2; k < last.size(); ++k) {
    const Tensor stack = ran == steps ? last[k] : ops::slice(last[k], {0}, Shape{ran});
    values.emplace_back(stack, (*outputs)[k - 1].type);
  }
  return values;
}

// Each step alone.
Result<Values> unrolled(Call& call, LoopCall loop) {
  Tracer& tracer = call.tracer();
  Value condition = call.has(1) ? call.operand(1) : Value(truth_of(true));
  std::vector<Values> scans(loop.scanned);
  for (int64_t step = 0; !loop.steps || step < *loop.steps; ++step) {
    LATHE_ASSIGN_OR_RETURN(const Content runs, tracer.content(condition));
    if (!is_single(runs)) return call.refuse("its condition must be one truth");
    if (runs.integer(0) == 0) break;
    if (step == kMostSteps) {
      return call.refuse(
          concat("takes more than ", kMostSteps, " steps that must be written down one by one"));
    }
    Values given = {Value(number_of(step)), condition};
    given.insert(given.end(), loop.carried.begin(), loop.carried.end());
    LATHE_ASSIGN_OR_RETURN(Values outputs, tracer.inlined(*loop.body, std::move(given)));
    condition = outputs[0];
    for (size_t k = 0; k < loop.carried.size(); ++k) loop.carried[k] = outputs[k + 1];
    for (size_t k = 0; k < loop.scanned; ++k) {
      scans[k].push_back(outputs[k + 1 + loop.carried.size()]);
    }
  }
  Values values = loop.carried;
  for (size_t k = 0; k < loop.scanned; ++k) {
    if (!scans[k].empty()) {
      values.push_back(stacked(tracer, scans[k], 0));
      continue;
    }
    // No step says what they would have been; the declaration may.
    const TypeProto& type = loop.body->outputs[k + 1 + loop.carried.size()].type;
    Shape shape = {0};
    for (const Size& each : type.shape) shape.push_back(std::max<int64_t>(each.value, 0));
    values.push_back(Value(Content{.type = type.type, .shape = std::move(shape)}));
  }
  return values;
}

}  // namespace

Result<Values> loop(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const GraphProto* body, graph_of(call, "body"));
  const size_t carried = call.operands() > 2 ? call.operands() - 2 : 0;
  if (body->inputs.size() != carried + 2 || body->outputs.size() < carried + 1) {
    return call.refuse(concat("its body must have ", carried + 2, " inputs and at least ",
                              carried + 1, " outputs"));
  }
  LoopCall loop{
      .body = body, .steps = {}, .carried = {}, .scanned = body->outputs.size() - carried - 1};
  for (size_t k = 0; k < carried; ++k) loop.carried.push_back(call.operand(k + 2));
  if (call.has(0)) {
    LATHE_ASSIGN_OR_RETURN(const int64_t most, call.integer(0));
    if (most < graph::kUnboundedSteps) loop.steps = std::max<int64_t>(most, 0);
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
