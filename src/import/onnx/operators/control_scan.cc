// Loops over slices and over sequences.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/control.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

using graph::Repetition;

Result<const GraphProto*> graph_of(Call& call, std::string_view name) {
  const AttributeProto* found = call.attribute(name);
  if (found != nullptr && found->graphs.size() == 1) return found->graphs[0].get();
  return call.reject(concat("the graph '", name, "' is missing"));
}

bool same_types(const Value& a, const Value& b) {
  return a.is_tensor() && b.is_tensor() && a.type == b.type && a.shape() == b.shape();
}

bool all_tensors(const Values& values) {
  return std::ranges::all_of(
      values, [](const Value& each) { return each.is_tensor() && each.type != Type::String; });
}

Value stacked(Tracer& tracer, const Values& steps, int axis) {
  std::vector<Tensor> tensors;
  for (const Value& each : steps) tensors.push_back(tracer.tensor(each));
  return {ops::stack(tensors, axis), steps[0].type};
}

namespace {

struct ScanCall {
  const GraphProto* body;
  Values states;
  std::vector<Tensor> slices;  // along axis 0, in the order of the steps
  std::vector<Type> types;     // of the slices
  int64_t steps;
};

// The last states, then the stacks, along axis 0 in the order of the steps.
Result<std::optional<Values>> as_node(Call& call, const ScanCall& scan) {
  Tracer& tracer = call.tracer();
  if (!all_tensors(scan.states)) return std::nullopt;
  std::vector<Tensor> operands;
  for (const Value& each : scan.states) operands.push_back(tracer.tensor(each));
  operands.insert(operands.end(), scan.slices.begin(), scan.slices.end());
  tracer.begin_body();
  Values arguments;
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool is_state = k < scan.states.size();
    Shape shape = operands[k].shape();
    if (!is_state) shape.erase(shape.begin());
    arguments.emplace_back(
        tracer.builder().input(concat("in", k), operands[k].dtype(), std::move(shape)),
        is_state ? scan.states[k].type : scan.types[k - scan.states.size()]);
  }
  auto outputs = tracer.inlined(*scan.body, std::move(arguments));
  bool fits = outputs && all_tensors(*outputs) && outputs->size() >= scan.states.size();
  for (size_t k = 0; fits && k < scan.states.size(); ++k) {
    fits = same_types((*outputs)[k], scan.states[k]);
  }
  if (!fits) {
    tracer.drop_body();
    if (!outputs && !tracer.must_unroll()) return std::unexpected(std::move(outputs.error()));
    return std::nullopt;
  }
  std::vector<Tensor> results;
  for (const Value& each : *outputs) results.push_back(tracer.tensor(each));
  LATHE_ASSIGN_OR_RETURN(Tracer::Body body, tracer.end_body(results));
  operands.insert(operands.end(), body.captures.begin(), body.captures.end());
  const Repetition repetition{.steps = scan.steps,
                              .carried = static_cast<int>(scan.states.size()),
                              .sliced = static_cast<int>(scan.slices.size()),
                              .condition = -1};
  const auto last = tracer.builder().loop(operands, repetition, false, std::move(body.graph));
  Values values;
  for (size_t k = 0; k < last.size(); ++k) values.emplace_back(last[k], (*outputs)[k].type);
  return values;
}

Result<Values> unrolled(Call& call, const ScanCall& scan) {
  Tracer& tracer = call.tracer();
  Values states = scan.states;
  std::vector<Values> stacks(scan.body->outputs.size() - states.size());
  for (int64_t step = 0; step < scan.steps; ++step) {
    Values arguments = states;
    for (size_t k = 0; k < scan.slices.size(); ++k) {
      const Tensor slice = ops::slice(scan.slices[k], {step}, Shape{1});
      arguments.emplace_back(ops::squeeze(slice, {{0}}), scan.types[k]);
    }
    LATHE_ASSIGN_OR_RETURN(Values outputs, tracer.inlined(*scan.body, std::move(arguments)));
    for (size_t k = 0; k < outputs.size(); ++k) {
      (k < states.size() ? states[k] : stacks[k - states.size()].emplace_back()) = outputs[k];
    }
  }
  for (const Values& each : stacks) {
    if (each.empty()) return call.reject("runs no step");
    states.push_back(stacked(tracer, each, 0));
  }
  return states;
}

Tensor moved_axis(Tensor x, int from, int to) {
  std::vector<int> order;
  for (int k = 0; k < x.rank(); ++k) {
    if (k != from) order.push_back(k);
  }
  order.insert(order.begin() + to, from);
  return ops::transpose(x, order);
}

int64_t at_or_zero(const std::vector<int64_t>& values, size_t k) {
  return k < values.size() ? values[k] : 0;
}

// The scan of tensors along the axes of the attributes; `first`: index of the first state
// among the operands.
Result<Values> scanned(Call& call, const GraphProto& body, Values operands, size_t sliced) {
  const size_t states = operands.size() - sliced;
  const bool is_old = call.version() < 9;
  const auto axes = call.ints_of("scan_input_axes");
  const auto directions = call.ints_of(is_old ? "directions" : "scan_input_directions");
  const auto out_axes = call.ints_of("scan_output_axes");
  const auto out_directions = call.ints_of("scan_output_directions");
  Tracer& tracer = call.tracer();
  ScanCall scan{.body = &body,
                .states = {operands.begin(), operands.begin() + static_cast<int64_t>(states)},
                .slices = {},
                .types = {},
                .steps = 0};
  for (size_t k = 0; k < sliced; ++k) {
    const Value& each = operands[states + k];
    LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(at_or_zero(axes, k), each.rank()));
    Tensor x = moved_axis(tracer.tensor(each), axis, 0);
    if (!x.valid()) return call.reject(tracer.builder().message());
    if (at_or_zero(directions, k) != 0) x = ops::reverse(x, {{0}});
    if (k > 0 && x.shape()[0] != scan.steps) {
      return call.reject(concat("its inputs have ", scan.steps, " and ", x.shape()[0], " slices"));
    }
    scan.steps = x.shape()[0];
    scan.slices.push_back(x);
    scan.types.push_back(each.type);
  }
  LATHE_ASSIGN_OR_RETURN(auto node, as_node(call, scan));
  Values values;
  if (node) {
    values = std::move(*node);
  } else {
    LATHE_ASSIGN_OR_RETURN(values, unrolled(call, scan));
  }
  for (size_t k = states; k < values.size(); ++k) {
    Tensor x = tracer.tensor(values[k]);
    if (at_or_zero(out_directions, k - states) != 0) x = ops::reverse(x, {{0}});
    LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(at_or_zero(out_axes, k - states), x.rank()));
    values[k] = Value(moved_axis(x, 0, axis), values[k].type);
  }
  return values;
}

// One of a batch along axis 0.
Value example(Tracer& tracer, const Value& batch, int64_t number) {
  const Tensor slice = ops::slice(tracer.tensor(batch), {number}, Shape{1});
  return {ops::squeeze(slice, {{0}}), batch.type};
}

}  // namespace

Result<Values> scan(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const GraphProto* body, graph_of(call, "body"));
  const size_t first = call.version() < 9 ? 1 : 0;
  const auto sliced = static_cast<size_t>(std::max<int64_t>(call.int_of("num_scan_inputs", 0), 0));
  if (sliced == 0 || call.operands() < first + sliced ||
      body->inputs.size() != call.operands() - first ||
      body->outputs.size() < call.operands() - first - sliced) {
    return call.reject("its body does not fit num_scan_inputs and its inputs");
  }
  Values operands;
  for (size_t k = first; k < call.operands(); ++k) operands.push_back(call.operand(k));
  if (first == 0) return scanned(call, *body, std::move(operands), sliced);
  // Version 8 scans each example of a batch.
  if (call.has(0)) return call.reject("sequence_lens is not supported in version 8");
  std::vector<Values> outputs(body->outputs.size());
  const Shape shape = operands.back().shape();
  for (int64_t k = 0; k < (shape.empty() ? 0 : shape[0]); ++k) {
    Values arguments;
    for (const Value& each : operands) arguments.push_back(example(call.tracer(), each, k));
    LATHE_ASSIGN_OR_RETURN(const Values results,
                           scanned(call, *body, std::move(arguments), sliced));
    for (size_t at = 0; at < results.size(); ++at) outputs[at].push_back(results[at]);
  }
  Values values;
  for (const Values& each : outputs) {
    if (each.empty()) return call.reject("its batch has no examples");
    values.push_back(stacked(call.tracer(), each, 0));
  }
  return values;
}

Result<Values> sequence_map(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const GraphProto* body, graph_of(call, "body"));
  if (call.operand(0).kind != Value::Kind::Sequence) return call.reject("expects a sequence");
  Values results(body->outputs.size());
  for (Value& each : results) each.kind = Value::Kind::Sequence;
  for (size_t k = 0; k < call.operand(0).elements.size(); ++k) {
    Values arguments;
    for (size_t i = 0; i < call.operands(); ++i) {
      const Value& operand = call.operand(i);
      const bool is_sequence = operand.kind == Value::Kind::Sequence;
      if (is_sequence && k >= operand.elements.size()) {
        return call.reject("its sequences differ in length");
      }
      arguments.push_back(is_sequence ? operand.elements[k] : operand);
    }
    LATHE_ASSIGN_OR_RETURN(Values outputs, call.tracer().inlined(*body, std::move(arguments)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      results[i].type = outputs[i].type;
      results[i].elements.push_back(std::move(outputs[i]));
    }
  }
  return results;
}

}  // namespace lathe::onnx::rows
