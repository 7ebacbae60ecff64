#include "lathe/import/onnx/trace/tracer.h"

#include <algorithm>
#include <cstring>
#include <ranges>

#include "lathe/base/depth.h"
#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/order.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/opt/sink_transposes.h"

namespace lathe::onnx {

using graph::Array;
using graph::Builder;
using graph::Kind;

namespace {

// Maximum number of elements evaluated during tracing, for one value and in total; larger values
// are computed at run time.
constexpr int64_t kMaxElementsOfOne = int64_t{1} << 20;
constexpr int64_t kMaxElementsOfAll = int64_t{1} << 26;
// Maximum number of elements of inputs whose content tracing may require.
constexpr int64_t kMaxElementsOfInputs = 64;
// Maximum number of traced nodes, including those of inlined functions and unrolled steps. Nested
// bodies may be traced twice at each level: without the limit, small files could need exponential
// time.
constexpr int64_t kMaxNodes = int64_t{1} << 18;
// The capacity of the padded axes of the inputs; 0: there are none.
int64_t padded_size_of(std::span<const Port> inputs) {
  for (const Port& each : inputs) {
    for (const int axis : each.padded_axes) {
      const bool is_there = axis >= 0 && axis < static_cast<int>(each.shape.size());
      return is_there ? each.shape[axis] : 0;
    }
  }
  return 0;
}

Array array_of(const Content& content) {
  return {dtype_of(content.type), content.shape, {content.data.begin(), content.data.end()}};
}

}  // namespace

Tracer::Tracer(const ModelProto& model, std::span<const Content> break_values,
               const TraceOptions& options)
    : model_(model),
      functions_(model),
      break_values_(break_values),
      cache_(options.cache),
      new_rows_(options.new_rows),
      mask_(options.mask),
      weights_(options.weights),
      requested_(options.results),
      graph_("run") {}

Result<Trace> Tracer::run(std::span<const Port> inputs) {
  if (!model_.unknown_types.empty()) return fail(listed(model_.unknown_types));
  const Unit unit{model_.sets, {}};
  unit_ = &unit;
  Scope scope{nullptr, {}};
  const size_t expected = model_.graph.inputs.size();
  if (inputs.size() != expected) {
    return fail(concat("the model has ", expected, " inputs, but the call has ", inputs.size()));
  }
  trace_.inputs.assign(inputs.begin(), inputs.end());
  LATHE_TRY(initializers(model_.graph, scope));
  if (weights_ != WeightInputs::None) add_weights(scope);
  if (!cache_.empty()) {
    past_length_ = graph_.input("at", DType::I32, {});
    if (new_rows_ > 0)
      padded_axes_.emplace(graph_, past_length_, capacity_of(inputs, cache_), new_rows_);
  } else if (const int64_t padded_size = padded_size_of(inputs); padded_size > 0) {
    past_length_ = graph_.input("count", DType::I32, {});
    padded_axes_.emplace(graph_, past_length_, padded_size, 0);
  }
  trace_.is_capacity_independent = !cache_.empty();
  for (size_t k = 0; k < expected; ++k) {
    const auto pair = std::ranges::find(cache_, k, &CachePair::input);
    const std::string& name = model_.graph.inputs[k].name;
    Value& value = scope.names[name];
    value = pair == cache_.end()
                ? input(inputs[k], trace_.inputs[k])
                : cache_state(inputs[k], static_cast<size_t>(pair - cache_.begin()));
    value.cache_dependence = pair != cache_.end() ? (pair->axis ? kCachedRows : 0)
                             : k == mask_         ? kMaskElements
                                                  : 0;
    if (!graph_.ok()) {
      return fail(concat("input '", model_.graph.inputs[k].name, "': ", graph_.message()));
    }
  }
  Result<Values> done;
  if (Status sound = model_nodes(scope); !sound) {
    done = std::unexpected(std::move(sound.error()));
  } else {
    done = requested_.empty() ? outputs(model_.graph, scope) : requested_results(scope);
  }
  if (!done && !has_stopped_) return std::unexpected(std::move(done.error()));
  if (done) {
    LATHE_TRY(update_caches(*done));
    for (size_t k = 0; k < done->size(); ++k) {
      const CachePair* cached = cache_of_output(k);
      if (padded_axes_ && !cache_.empty() &&
          padded_axes_->has_wrong_padding((*done)[k].tensor,
                                          cached == nullptr ? std::nullopt : cached->axis)) {
        return fail("cache: the size of an output depends on the valid length of the cache");
      }
      if (cached == nullptr && ((*done)[k].cache_dependence & ~kCachedRows) != 0)
        trace_.is_capacity_independent = false;
      trace_.results.push_back(cached != nullptr ? Port{} : result((*done)[k]));
    }
    trace_.is_complete = !has_stopped_;
  }
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, std::move(graph_).finish());
  trace_.graph = opt::sink_all_transposes(std::move(graph), trace_.graph_breaks);
  return std::move(trace_);
}

// The value of an input; `named` gets the names of its graph inputs, in order.
Value Tracer::input(const Port& port, Port& named) {
  switch (port.kind) {
    case Value::Kind::None:
      return {};
    case Value::Kind::Tensor: {
      if (port.type == Type::String) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.type = Type::String;
        value.constant = port.constant;
        return value;
      }
      named.name = concat('i', inputs_++);
      Value value(graph_.input(named.name, dtype_of(port.type), port.shape), port.type);
      if (!port.padded_axes.empty()) padded_axes_->add_input(value.tensor, port.padded_axes);
      if (port.constant) {
        arrays_[{&graph_, value.tensor.value}] = array_of(*port.constant);
        arrays_of_next_length_[{&graph_, value.tensor.value}] = array_of(*port.constant);
      }
      return value;
    }
    case Value::Kind::Sequence:
    case Value::Kind::Map: {
      Value value;
      value.kind = port.kind;
      value.type = port.type;
      for (size_t k = 0; k < port.elements.size(); ++k) {
        value.elements.push_back(input(port.elements[k], named.elements[k]));
      }
      return value;
    }
  }
  return {};
}

Result<Values> Tracer::requested_results(const Scope& scope) {
  Values values;
  for (const std::string& name : requested_) {
    const Value* value = find(scope, name);
    if (value == nullptr) return fail(concat("the model has no value '", name, '\''));
    values.push_back(*value);
  }
  return values;
}

void Tracer::assume(Tensor x, const LinearIntegers& content) {
  LinearIntegers more = content;
  for (size_t k = 0; k < more.values.size(); ++k) more.values[k] += more.steps[k];
  const auto array = [&](const LinearIntegers& each) {
    return array_of(integers_content(Type::Int64, x.shape(), each.values));
  };
  arrays_[{x.builder, x.value}] = array(content);
  arrays_of_next_length_[{x.builder, x.value}] = array(more);
}

Port Tracer::result(const Value& value) {
  Port port{.kind = value.kind, .type = value.type};
  if (value.is_tensor()) {
    port.shape = value.shape();
    const bool is_numbers = value.type != Type::String;
    const Tensor x = is_numbers ? tensor(value) : Tensor{};
    if (x.valid() && graph_.graph()[x.value].kind == Kind::State) {
      port.name = graph_.graph()[x.value].name;
    } else if (!is_numbers) {
      port.constant = value.constant;
    } else {
      port.name = concat('o', results_++);
      graph_.output(port.name, x);
      for (int axis = 0; padded_axes_ && axis < x.rank(); ++axis) {
        if (padded_axes_->is_padded(x, axis)) port.padded_axes.push_back(axis);
      }
    }
  }
  for (const Value& each : value.elements) port.elements.push_back(result(each));
  return port;
}

Status Tracer::initializers(const GraphProto& graph, Scope& scope) {
  LATHE_TRY(spend(static_cast<int64_t>(graph.initializers.size())));
  for (const TensorProto& each : graph.initializers) {
    if (each.external) {
      return fail(concat("initializer '", each.name, "': its data is in the file '",
                         each.external->location, "', which is missing"));
    }
    auto& content = initializers_[&each];
    if (!content) content = std::make_shared<const Content>(each.content);
    scope.names[each.name] = Value(content);
  }
  return {};
}

const Value* Tracer::find(const Scope& scope, std::string_view name) {
  for (const Scope* each = &scope; each != nullptr; each = each->outer) {
    --steps_left_;
    const auto found = each->names.find(name);
    if (found != each->names.end()) return &found->second;
  }
  return nullptr;
}

Result<Values> Tracer::outputs(const GraphProto& graph, const Scope& scope) {
  Values values;
  for (const ValueInfo& each : graph.outputs) {
    const Value* value = find(scope, each.name);
    if (value == nullptr) {
      return fail(concat("output '", clipped(each.name), "' of graph '", clipped(graph.name),
                         "': no node produces it"));
    }
    values.push_back(*value);
  }
  return values;
}

Result<Values> Tracer::nodes(const std::vector<NodeProto>& nodes, Scope& scope) {
  if (depth_ == kMaxDepth) {
    return fail(concat("functions, branches and bodies of loops nest more than ", kMaxDepth,
                       " deep, or call one another without end"));
  }
  LATHE_ASSIGN_OR_RETURN(const auto order, orders_.sorted(nodes));
  const auto before = std::exchange(scope_, &scope);
  ++depth_;
  Result<Values> result;
  for (const NodeProto* each : order) {
    if (Status done = node(*each, scope); !done) {
      result = std::unexpected(std::move(done.error()));
      break;
    }
  }
  --depth_;
  scope_ = before;
  return result;
}

Status Tracer::model_nodes(Scope& scope) {
  scope_ = &scope;
  Problems problems;
  LATHE_ASSIGN_OR_RETURN(const auto order, orders_.sorted(model_.graph.nodes));
  for (const NodeProto* each : order) {
    if (problems.is_dependent(*each)) continue;
    Status done = node(*each, scope);
    if (done) continue;
    if (has_stopped_ && problems.empty()) return done;
    // Errors are reported before any run-time data is required.
    if (has_stopped_) break;
    problems.add(*each, std::move(done.error().message));
    while (is_inside_body()) drop_body();
    graph_.pop_error();
    must_unroll_ = false;
  }
  has_stopped_ = has_stopped_ && problems.empty();
  if (problems.empty()) return {};
  return fail(problems.message());
}

Status Tracer::node(const NodeProto& node, Scope& scope) {
  // Its results are unused.
  if (node.outputs.empty()) return {};
  if (++nodes_ > kMaxNodes) {
    return fail(concat("the model, with its functions inlined and loops unrolled, has more than ",
                       kMaxNodes, " nodes"));
  }
  Values operands;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      operands.emplace_back();
      continue;
    }
    const Value* value = find(scope, name);
    if (value == nullptr) {
      return failed(node, concat("no node produces its input '", clipped(name), '\''));
    }
    operands.push_back(*value);
  }
  while (!operands.empty() && operands.back().is_none() && node.inputs[operands.size() - 1].empty())
    operands.pop_back();
  const uint8_t dependence = cache_dependence_of(node, operands);
  if (Status spent = spend(node, operands); !spent) return failed(node, spent.error().message);
  auto results = call_operator(node, std::move(operands));
  if (!results) {
    if (has_stopped_ && trace_.why.empty()) {
      trace_.why = named(node, results.error().message);
    }
    if (has_stopped_ || must_unroll_) return std::unexpected(std::move(results.error()));
    return failed(node, results.error().message);
  }
  Builder& at = builder();
  if (!at.ok()) return failed(node, at.message());
  if (Status sound = propagate_padding(); !sound) return failed(node, sound.error().message);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    if (k >= results->size()) {
      return failed(node, concat("has no output ", k, " ('", clipped(node.outputs[k]), "') here"));
    }
    Value& value = scope.names[node.outputs[k]] = std::move((*results)[k]);
    if (k > 0 || node.op_type != "GroupQueryAttention") value.cache_dependence |= dependence;
  }
  return {};
}

Result<Values> Tracer::call_operator(const NodeProto& node, Values operands) {
  const std::string_view domain = node.domain == "ai.onnx" ? std::string_view{} : node.domain;
  if (const FunctionProto* found = functions_.find(node)) {
    return function(*found, node, std::move(operands));
  }
  const auto set = unit_->sets.find(domain);
  const int version = set == unit_->sets.end() ? 1 : static_cast<int>(set->second);
  const Operator* row = find_operator(domain, node.op_type, version);
  if (row == nullptr) {
    return fail(concat("there is no operator ", domain, domain.empty() ? "" : ".", node.op_type,
                       " of version ", version));
  }
  if (!operands.empty() && operands[0].is_tensor() && (row->types & only(operands[0].type)) == 0) {
    return fail(concat("does not support ", text(operands[0].type), "; cast it to one of ",
                       text(row->types)));
  }
  Call call(*this, node, version, row->moved, unit_->attributes, std::move(operands));
  if (!row->supports_padding && has_padded_operand(call)) return call.reject_length();
  call.reset_used();
  if (row->function != nullptr) {
    auto results = row->function(call);
    if (results) LATHE_TRY(call.check_used());
    if (results) LATHE_TRY(check_strings(call, *results));
    if (results && padded_axes() != nullptr) LATHE_TRY(check_padding(call, *results));
    return results;
  }
  std::vector<Tensor> tensors;
  for (size_t k = 0; k < call.operands(); ++k) tensors.push_back(call.tensor(k));
  LATHE_TRY(call.check_used());
  return Values{builder().map(row->op, tensors, node.op_type)};
}

// Inlines the nodes of the function.
Result<Values> Tracer::function(const FunctionProto& function, const NodeProto& node,
                                Values operands) {
  const auto size_of = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  LATHE_TRY(
      spend(size_of(node.attributes) * (size_of(unit_->attributes) + size_of(function.defaults)) +
            size_of(function.inputs)));
  std::vector<AttributeProto> attributes;
  for (const AttributeProto& each : node.attributes) {
    attributes.push_back(resolve(each, unit_->attributes));
  }
  for (const AttributeProto& each : function.defaults) {
    if (node.attribute(each.name) == nullptr) attributes.push_back(each);
  }
  Scope scope{nullptr, {}};
  for (size_t k = 0; k < function.inputs.size(); ++k) {
    scope.names[function.inputs[k]] = k < operands.size() ? operands[k] : Value{};
  }
  const Unit unit{function.sets, attributes};
  const auto before = std::exchange(unit_, &unit);
  auto done = nodes(function.nodes, scope);
  unit_ = before;
  if (!done) return done;
  Values values;
  for (const std::string& name : function.outputs) {
    const Value* value = find(scope, name);
    values.push_back(value == nullptr ? Value{} : *value);
  }
  return values;
}

Result<Values> Tracer::inlined(const GraphProto& graph, Values arguments) {
  if (arguments.size() != graph.inputs.size()) {
    return fail(concat("its graph '", graph.name, "' has ", graph.inputs.size(), " inputs, not ",
                       arguments.size()));
  }
  Scope scope{scope_, {}};
  LATHE_TRY(initializers(graph, scope));
  for (size_t k = 0; k < arguments.size(); ++k) {
    scope.names[graph.inputs[k].name] = std::move(arguments[k]);
  }
  LATHE_TRY(nodes(graph.nodes, scope));
  return outputs(graph, scope);
}

void Tracer::begin_body() { bodies_.push_back(std::make_unique<OpenBody>()); }

void Tracer::drop_body() {
  const Builder* dropped = &bodies_.back()->builder;
  std::erase_if(constants_, [&](const auto& each) { return each.first.first == dropped; });
  std::erase_if(arrays_, [&](const auto& each) { return each.first.first == dropped; });
  bodies_.pop_back();
}

Result<Tracer::Body> Tracer::end_body(std::span<const Tensor> outputs) {
  OpenBody& body = *bodies_.back();
  for (size_t k = 0; k < outputs.size(); ++k) body.builder.output(concat("out", k), outputs[k]);
  auto graph = std::move(body.builder).finish();
  std::vector<Tensor> captures = std::move(body.captures);
  drop_body();
  if (!graph) return std::unexpected(std::move(graph.error()));
  return Body{std::move(*graph), std::move(captures)};
}

Builder& Tracer::builder_at(size_t depth) {
  return depth == 0 ? graph_ : bodies_[depth - 1]->builder;
}

// A tensor of an outer scope as an input of the body at `depth` (1: the outermost).
Tensor Tracer::captured(Tensor x, size_t depth) {
  if (x.builder == &builder_at(depth)) return x;
  OpenBody& body = *bodies_[depth - 1];
  const Tensor outside = captured(x, depth - 1);
  if (padded_axes_ && padded_axes_->is_tracked(outside)) {
    return body.builder.error("depends on the valid length of a padded axis");
  }
  const auto found = body.inputs.find(outside.value);
  if (found != body.inputs.end()) return found->second;
  const Tensor input =
      body.builder.input(concat("capture", body.captures.size()), outside.dtype(), outside.shape());
  body.inputs[outside.value] = input;
  body.outside[input.value] = outside;
  body.captures.push_back(outside);
  return input;
}

Tensor Tracer::tensor(const Value& value) {
  Builder& at = builder();
  if (!value.is_tensor() || value.type == Type::String) {
    return at.error(value.is_tensor() ? "strings are no numbers" : "expects a tensor");
  }
  if (value.tensor.valid()) return captured(value.tensor, bodies_.size());
  if (!value.constant) return at.error("an operand is missing");
  auto& node = constants_[{&at, value.constant.get()}];
  if (!node.content) {
    node = {value.constant,
            at.constant(dtype_of(value.type), value.constant->shape, value.constant->data)};
  }
  return node.tensor;
}

std::optional<Array> Tracer::evaluated(Builder& at, graph::Value value) {
  const graph::Graph& graph = at.graph();
  const auto array_at = [&](graph::Value each) { return arrays_.find({&at, each}); };
  Table<graph::Value, bool> needed(static_cast<size_t>(value.id) + 1);
  needed[value] = true;
  int64_t elements = 0;
  for (int32_t id = value.id; id >= 0; --id) {
    if (!needed[id] || array_at({id}) != arrays_.end()) continue;
    const graph::Node& node = graph.nodes[id];
    elements += graph::element_count(node.shape);
    if (node.kind == Kind::Contract) elements += graph::element_count(node.contraction.extents);
    if (elements > kMaxElementsOfOne || computed_ + elements > kMaxElementsOfAll)
      return std::nullopt;
    switch (node.kind) {
      case Kind::State:
      case Kind::Loop:
      case Kind::Item:
        return std::nullopt;
      case Kind::Input: {
        const OpenBody* body = nullptr;
        for (const auto& each : bodies_) {
          if (&each->builder == &at) body = each.get();
        }
        const auto outside = body == nullptr ? std::map<graph::Value, Tensor>::const_iterator{}
                                             : body->outside.find({id});
        if (body == nullptr || outside == body->outside.end()) return std::nullopt;
        auto array = evaluated(*outside->second.builder, outside->second.value);
        if (!array) return std::nullopt;
        arrays_[{&at, {id}}] = std::move(*array);
        break;
      }
      default:
        break;
    }
    for (const graph::Value operand : node.operands) {
      needed[operand] = true;
    }
  }
  computed_ += elements;
  for (int32_t id = 0; id <= value.id; ++id) {
    if (!needed[id] || array_at({id}) != arrays_.end()) continue;
    const graph::Node& node = graph.nodes[id];
    std::vector<const Array*> operands;
    for (const graph::Value operand : node.operands) operands.push_back(&array_at(operand)->second);
    arrays_[{&at, {id}}] = graph::evaluate_node(node, operands);
  }
  return array_at(value)->second;
}

std::optional<Content> Tracer::peek(const Value& value) {
  if (!value.is_tensor() || depends_on_length(value)) return std::nullopt;
  if (value.constant) return *value.constant;
  if (!value.tensor.valid()) return std::nullopt;
  auto array = evaluated(*value.tensor.builder, value.tensor.value);
  if (!array) return std::nullopt;
  *array = graph::stored(std::move(*array), value.tensor.dtype());
  return Content{.type = value.type, .shape = value.shape(), .data = std::move(array->data)};
}

Result<Content> Tracer::content(const Value& value) {
  if (!value.is_tensor()) return fail("expects a tensor");
  if (depends_on_length(value)) return fail("depends on the valid length of a padded axis");
  if (!value.constant && !value.tensor.valid()) return fail("an operand is invalid");
  if (auto content = peek(value)) return std::move(*content);
  return break_graph(value);
}

std::unexpected<Error> Tracer::unroll(std::string_view why) {
  must_unroll_ = true;
  return fail(std::string(why));
}

// Requires the content of the inputs that the value depends on, if these are small, or else breaks
// the graph at the value.
Result<Content> Tracer::break_graph(const Value& value) {
  const char* why = "its operand is only available at run time";
  if (is_inside_body()) return unroll(why);
  const graph::Graph& graph = graph_.graph();
  Table<graph::Value, bool> needed(static_cast<size_t>(value.tensor.value.id) + 1);
  needed.back() = true;
  int64_t elements = 0;
  bool is_small = true;
  std::vector<size_t> required;
  for (size_t id = needed.size(); id-- > 0 && is_small;) {
    if (!needed[id] || arrays_.contains({&graph_, {static_cast<int32_t>(id)}})) continue;
    const graph::Node& node = graph.nodes[id];
    if (node.kind == Kind::Input) {
      elements += graph::element_count(node.shape);
      is_small = elements <= kMaxElementsOfInputs && !scalar::is_float(node.dtype);
      required.push_back(static_cast<size_t>(std::strtoll(node.name.c_str() + 1, nullptr, 10)));
    }
    is_small = is_small && node.kind != Kind::Loop && node.kind != Kind::Item;
    for (const graph::Value operand : node.operands) needed[operand] = true;
  }
  has_stopped_ = true;
  if (is_small) {
    trace_.required_inputs = std::move(required);
    return fail(why);
  }
  const graph::Value last =
      trace_.graph_breaks.empty() ? graph::Value{} : trace_.graph_breaks.back();
  graph::Value at = value.tensor.value;
  if (at <= last) {
    Shape longer = value.shape();
    longer.insert(longer.begin(), 1);
    at = graph_.reshape(value.tensor, longer).value;
  }
  trace_.graph_breaks.push_back(at);
  const size_t index = trace_.graph_breaks.size() - 1;
  if (index >= break_values_.size()) return fail(why);
  has_stopped_ = false;
  Content content = break_values_[index];
  content.shape = value.shape();
  arrays_[{&graph_, value.tensor.value}] = array_of(content);
  return content;
}

Result<Trace> trace(const ModelProto& model, std::span<const Port> inputs,
                    std::span<const Content> break_values, const TraceOptions& options) {
  const int64_t padded_size = padded_size_of(inputs);
  for (const Port& each : inputs) {
    for (const int axis : each.padded_axes) {
      const bool is_there = axis >= 0 && axis < static_cast<int>(each.shape.size());
      const bool fits = is_there && each.shape[axis] == padded_size;
      if (each.kind != Value::Kind::Tensor || each.type == Type::String || !fits ||
          padded_size < 2 || !options.cache.empty()) {
        return fail("counted: requires axes of equal size, of numeric tensors, and no cache");
      }
    }
  }
  LATHE_TRY(check_caches(model, inputs, options));
  return Tracer(model, break_values, options).run(inputs);
}

}  // namespace lathe::onnx
