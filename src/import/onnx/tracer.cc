#include "lathe/import/onnx/tracer.h"

#include <algorithm>
#include <cstring>
#include <ranges>

#include "lathe/base/depth.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/operators.h"
#include "lathe/import/onnx/order.h"
#include "lathe/opt/sink_transposes.h"

namespace lathe::onnx {

using graph::Array;
using graph::Builder;
using graph::Kind;

namespace {

// Elements that are computed while the model is written down, for one value and for all; more are
// computed at run time.
constexpr int64_t kMostOfOne = int64_t{1} << 20;
constexpr int64_t kMostOfAll = int64_t{1} << 26;
// Elements of inputs whose content may decide how the model is written down.
constexpr int64_t kMostOfInputs = 64;
// Nodes that are written down, those of functions and of steps written one by one each time. Bodies
// in bodies may be written down twice at each level: without an end to it, small files take
// forever.
constexpr int64_t kMostNodes = int64_t{1} << 18;
// For how many rows the inputs have room; 0: their axes are as they are.
int64_t counted_room(std::span<const Port> inputs) {
  for (const Port& each : inputs) {
    for (const int axis : each.counted) {
      const bool is_there = axis >= 0 && axis < static_cast<int>(each.shape.size());
      return is_there ? each.shape[static_cast<size_t>(axis)] : 0;
    }
  }
  return 0;
}

Array array_of(const Content& content) {
  return {dtype_of(content.type), content.shape, {content.data.begin(), content.data.end()}};
}

}  // namespace

Tracer::Tracer(const ModelProto& model, std::span<const Content> known, const TraceOptions& options)
    : model_(model),
      functions_(model),
      known_(known),
      cache_(options.cache),
      fresh_rows_(options.fresh_rows),
      weights_(options.weights),
      wanted_(options.results),
      graph_("run") {}

Result<Trace> Tracer::run(std::span<const Port> inputs) {
  if (!model_.unknown_types.empty()) return fail(listed(model_.unknown_types));
  const Unit unit{model_.sets, {}};
  unit_ = &unit;
  Scope scope{nullptr, {}};
  const size_t expected = model_.graph.inputs.size();
  if (inputs.size() != expected) {
    return fail(concat("the model has ", expected, " inputs, given ", inputs.size()));
  }
  trace_.inputs.assign(inputs.begin(), inputs.end());
  LATHE_TRY(initializers(model_.graph, scope));
  if (weights_ != WeightInputs::None) add_weights(scope);
  if (!cache_.empty()) {
    earlier_rows_ = graph_.input("at", DType::I32, {});
    const int64_t room = inputs[cache_[0].input].shape[kCacheAxis];
    if (fresh_rows_ > 0) rows_.emplace(graph_, earlier_rows_, room, fresh_rows_);
  } else if (const int64_t room = counted_room(inputs); room > 0) {
    earlier_rows_ = graph_.input("count", DType::I32, {});
    rows_.emplace(graph_, earlier_rows_, room, 0);
  }
  trace_.is_sure = !cache_.empty();
  for (size_t k = 0; k < expected; ++k) {
    const auto pair = std::ranges::find(cache_, k, &CachePair::input);
    const std::string& name = model_.graph.inputs[k].name;
    Value& value = scope.names[name];
    value = pair == cache_.end() ? input(inputs[k], trace_.inputs[k])
                                 : cached(inputs[k], static_cast<size_t>(pair - cache_.begin()));
    value.follows = pair != cache_.end() ? kKeptRows : name == "attention_mask" ? kMaskElements : 0;
    if (!graph_.ok()) {
      return fail(concat("input '", model_.graph.inputs[k].name, "': ", graph_.message()));
    }
  }
  Result<Values> done;
  if (Status sound = model_nodes(scope); !sound) {
    done = std::unexpected(std::move(sound.error()));
  } else {
    done = wanted_.empty() ? outputs(model_.graph, scope) : wanted(scope);
  }
  if (!done && !is_asking_) return std::unexpected(std::move(done.error()));
  if (done) {
    LATHE_TRY(keep_rows(*done));
    for (size_t k = 0; k < done->size(); ++k) {
      if (rows_ && !cache_.empty() && rows_->is_misplaced((*done)[k].tensor, is_kept(k))) {
        return fail("cache: an output is as long as there are kept rows");
      }
      if (!is_kept(k) && ((*done)[k].follows & ~kKeptRows) != 0) trace_.is_sure = false;
      trace_.results.push_back(is_kept(k) ? Port{} : result((*done)[k]));
    }
    trace_.is_whole = !is_asking_;
  }
  LATHE_ASSIGN_OR_RETURN(graph::Graph written, std::move(graph_).finish());
  trace_.graph = opt::sink_transposes(std::move(written), trace_.cuts);
  return std::move(trace_);
}

// The input with ports of its own, named in order.
Value Tracer::input(const Port& given, Port& named) {
  switch (given.kind) {
    case Value::Kind::None:
      return {};
    case Value::Kind::Tensor: {
      if (given.type == Type::String) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.type = Type::String;
        value.known = given.known;
        return value;
      }
      named.name = concat('i', inputs_++);
      Value value(graph_.input(named.name, dtype_of(given.type), given.shape), given.type);
      if (!given.counted.empty()) rows_->add_input(value.tensor, given.counted);
      if (given.known) {
        arrays_[{&graph_, value.tensor.value}] = array_of(*given.known);
        arrays_of_more_[{&graph_, value.tensor.value}] = array_of(*given.known);
      }
      return value;
    }
    case Value::Kind::Sequence:
    case Value::Kind::Map: {
      Value value;
      value.kind = given.kind;
      value.type = given.type;
      for (size_t k = 0; k < given.elements.size(); ++k) {
        value.elements.push_back(input(given.elements[k], named.elements[k]));
      }
      return value;
    }
  }
  return {};
}

Result<Values> Tracer::wanted(const Scope& scope) {
  Values values;
  for (const std::string& name : wanted_) {
    const Value* value = find(scope, name);
    if (value == nullptr) return fail(concat("the model has no value '", name, '\''));
    values.push_back(*value);
  }
  return values;
}

void Tracer::assume(Tensor x, const Counted& counted) {
  Counted more = counted;
  for (size_t k = 0; k < more.values.size(); ++k) more.values[k] += more.steps[k];
  const auto array = [&](const Counted& each) {
    return array_of(integers_content(Type::Int64, x.shape(), each.values));
  };
  arrays_[{x.builder, x.value}] = array(counted);
  arrays_of_more_[{x.builder, x.value}] = array(more);
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
      port.known = value.known;
    } else {
      port.name = concat('o', results_++);
      graph_.output(port.name, x);
      for (int axis = 0; rows_ && axis < x.rank(); ++axis) {
        if (rows_->has_rows(x, axis)) port.counted.push_back(axis);
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
                         each.external->location, "', which has not been given"));
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
                         "': nothing gives it"));
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
  LATHE_ASSIGN_OR_RETURN(const auto order, orders_.of(nodes));
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
  LATHE_ASSIGN_OR_RETURN(const auto order, orders_.of(model_.graph.nodes));
  for (const NodeProto* each : order) {
    if (problems.follows(*each)) continue;
    Status done = node(*each, scope);
    if (done) continue;
    if (is_asking_ && problems.empty()) return done;
    // What is wrong is said before anything is asked.
    if (is_asking_) break;
    problems.add(*each, std::move(done.error().message));
    while (is_inside_body()) drop_body();
    graph_.take_error();
    must_unroll_ = false;
  }
  is_asking_ = is_asking_ && problems.empty();
  if (problems.empty()) return {};
  return fail(problems.text());
}

Status Tracer::node(const NodeProto& node, Scope& scope) {
  // Nobody can read what it gives.
  if (node.outputs.empty()) return {};
  if (++nodes_ > kMostNodes) {
    return fail(concat("the model, its functions and loops written out, has more than ", kMostNodes,
                       " nodes"));
  }
  Values operands;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      operands.emplace_back();
      continue;
    }
    const Value* value = find(scope, name);
    if (value == nullptr) {
      return failed(node, concat("nothing gives its input '", clipped(name), '\''));
    }
    operands.push_back(*value);
  }
  while (!operands.empty() && operands.back().is_none() && node.inputs[operands.size() - 1].empty())
    operands.pop_back();
  const uint8_t follows = followed(node, operands);
  if (Status spent = spend(node, operands); !spent) return failed(node, spent.error().message);
  auto results = apply(node, std::move(operands));
  if (!results) {
    if (is_asking_ && trace_.why.empty()) {
      trace_.why = named(node, results.error().message);
    }
    if (is_asking_ || must_unroll_) return std::unexpected(std::move(results.error()));
    return failed(node, results.error().message);
  }
  Builder& at = builder();
  if (!at.ok()) return failed(node, at.message());
  if (Status sound = follow_rows(); !sound) return failed(node, sound.error().message);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    if (k >= results->size()) {
      return failed(node,
                    concat("has no output number ", k, " ('", clipped(node.outputs[k]), "') here"));
    }
    Value& value = scope.names[node.outputs[k]] = std::move((*results)[k]);
    if (k > 0 || node.op_type != "GroupQueryAttention") value.follows |= follows;
  }
  return {};
}

Result<Values> Tracer::apply(const NodeProto& node, Values operands) {
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
    return fail(
        concat("does not take ", text(operands[0].type), "; cast it to one of ", text(row->types)));
  }
  Call call(*this, node, version, row->moved, unit_->attributes, std::move(operands));
  if (!row->takes_rooms && has_rooms(call)) return call.refuse_rows();
  call.forget_used();
  if (row->function != nullptr) {
    auto results = row->function(call);
    if (results) LATHE_TRY(call.check_used());
    if (results) LATHE_TRY(check_strings(call, *results));
    if (results && rows() != nullptr) LATHE_TRY(check_rows(call, *results));
    return results;
  }
  std::vector<Tensor> tensors;
  for (size_t k = 0; k < call.operands(); ++k) tensors.push_back(call.tensor(k));
  LATHE_TRY(call.check_used());
  return Values{builder().map(row->op, tensors, node.op_type)};
}

// As if the nodes of the function stood here.
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

Result<Values> Tracer::inlined(const GraphProto& graph, Values given) {
  if (given.size() != graph.inputs.size()) {
    return fail(concat("its graph '", graph.name, "' has ", graph.inputs.size(), " inputs, not ",
                       given.size()));
  }
  Scope scope{scope_, {}};
  LATHE_TRY(initializers(graph, scope));
  for (size_t k = 0; k < given.size(); ++k) {
    scope.names[graph.inputs[k].name] = std::move(given[k]);
  }
  LATHE_TRY(nodes(graph.nodes, scope));
  return outputs(graph, scope);
}

void Tracer::begin_body() { bodies_.push_back(std::make_unique<OpenBody>()); }

void Tracer::drop_body() {
  const Builder* gone = &bodies_.back()->builder;
  std::erase_if(constants_, [&](const auto& each) { return each.first.first == gone; });
  std::erase_if(arrays_, [&](const auto& each) { return each.first.first == gone; });
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

// A tensor of what is around a body, as the body number `depth` (1: the outermost) sees it.
Tensor Tracer::captured(Tensor x, size_t depth) {
  if (x.builder == &builder_at(depth)) return x;
  OpenBody& body = *bodies_[depth - 1];
  const Tensor outside = captured(x, depth - 1);
  if (rows_ && rows_->is_marked(outside)) {
    return body.builder.error("goes by how many rows there are");
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
    return at.error(value.is_tensor() ? "strings are no numbers" : "wants a tensor");
  }
  if (value.tensor.valid()) return captured(value.tensor, bodies_.size());
  if (!value.known) return at.error("an operand is missing");
  auto& spelled = constants_[{&at, value.known.get()}];
  if (!spelled.content) {
    spelled = {value.known,
               at.constant(dtype_of(value.type), value.known->shape, value.known->data)};
  }
  return spelled.tensor;
}

std::optional<Array> Tracer::evaluated(Builder& at, graph::Value value) {
  const graph::Graph& graph = at.graph();
  const auto known = [&](graph::Value each) { return arrays_.find({&at, each}); };
  std::vector<bool> needed(static_cast<size_t>(value.id) + 1);
  needed[static_cast<size_t>(value.id)] = true;
  int64_t elements = 0;
  for (int32_t id = value.id; id >= 0; --id) {
    if (!needed[static_cast<size_t>(id)] || known({id}) != arrays_.end()) continue;
    const graph::Node& node = graph.nodes[static_cast<size_t>(id)];
    elements += graph::element_count(node.shape);
    if (node.kind == Kind::Contract) elements += graph::element_count(node.contraction.extents);
    if (elements > kMostOfOne || computed_ + elements > kMostOfAll) return std::nullopt;
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
      needed[static_cast<size_t>(operand.id)] = true;
    }
  }
  computed_ += elements;
  for (int32_t id = 0; id <= value.id; ++id) {
    if (!needed[static_cast<size_t>(id)] || known({id}) != arrays_.end()) continue;
    const graph::Node& node = graph.nodes[static_cast<size_t>(id)];
    std::vector<const Array*> operands;
    for (const graph::Value operand : node.operands) operands.push_back(&known(operand)->second);
    arrays_[{&at, {id}}] = graph::evaluate_node(node, operands);
  }
  return known(value)->second;
}

std::optional<Content> Tracer::peek(const Value& value) {
  if (!value.is_tensor() || goes_by_rows(value)) return std::nullopt;
  if (value.known) return *value.known;
  if (!value.tensor.valid()) return std::nullopt;
  auto array = evaluated(*value.tensor.builder, value.tensor.value);
  if (!array) return std::nullopt;
  *array = graph::stored(std::move(*array), value.tensor.dtype());
  return Content{.type = value.type, .shape = value.shape(), .data = std::move(array->data)};
}

Result<Content> Tracer::content(const Value& value) {
  if (!value.is_tensor()) return fail("wants a tensor");
  if (goes_by_rows(value)) return fail("goes by how many rows there are");
  if (!value.known && !value.tensor.valid()) return fail("an operand is invalid");
  if (auto content = peek(value)) return std::move(*content);
  return ask(value);
}

std::unexpected<Error> Tracer::unroll(std::string_view why) {
  must_unroll_ = true;
  return fail(std::string(why));
}

// What the value depends on, where that is a few small inputs, or else itself.
Result<Content> Tracer::ask(const Value& value) {
  const char* why = "its operand is known at run time only";
  if (is_inside_body()) return unroll(why);
  const graph::Graph& graph = graph_.graph();
  std::vector<bool> needed(static_cast<size_t>(value.tensor.value.id) + 1);
  needed.back() = true;
  int64_t elements = 0;
  bool is_small = true;
  std::vector<size_t> asked;
  for (size_t id = needed.size(); id-- > 0 && is_small;) {
    if (!needed[id] || arrays_.contains({&graph_, {static_cast<int32_t>(id)}})) continue;
    const graph::Node& node = graph.nodes[id];
    if (node.kind == Kind::Input) {
      elements += graph::element_count(node.shape);
      is_small = elements <= kMostOfInputs && !scalar::is_float(node.dtype);
      asked.push_back(static_cast<size_t>(std::strtoll(node.name.c_str() + 1, nullptr, 10)));
    }
    is_small = is_small && node.kind != Kind::Loop && node.kind != Kind::Item;
    for (const graph::Value operand : node.operands) needed[static_cast<size_t>(operand.id)] = true;
  }
  is_asking_ = true;
  if (is_small) {
    trace_.asked = std::move(asked);
    return fail(why);
  }
  const graph::Value before = trace_.cuts.empty() ? graph::Value{} : trace_.cuts.back();
  graph::Value cut = value.tensor.value;
  if (cut <= before) {
    Shape longer = value.shape();
    longer.insert(longer.begin(), 1);
    cut = graph_.reshape(value.tensor, longer).value;
  }
  trace_.cuts.push_back(cut);
  const size_t number = trace_.cuts.size() - 1;
  if (number >= known_.size()) return fail(why);
  is_asking_ = false;
  Content content = known_[number];
  content.shape = value.shape();
  arrays_[{&graph_, value.tensor.value}] = array_of(content);
  return content;
}

Result<Trace> trace(const ModelProto& model, std::span<const Port> inputs,
                    std::span<const Content> known, const TraceOptions& options) {
  const int64_t counted = counted_room(inputs);
  for (const Port& each : inputs) {
    for (const int axis : each.counted) {
      const bool is_there = axis >= 0 && axis < static_cast<int>(each.shape.size());
      const bool fits = is_there && each.shape[static_cast<size_t>(axis)] == counted;
      if (each.kind != Value::Kind::Tensor || each.type == Type::String || !fits || counted < 2 ||
          !options.cache.empty()) {
        return fail("counted: wants axes of one size, of tensors of numbers, and no cache");
      }
    }
  }
  for (const CachePair& each : options.cache) {
    if (each.input >= inputs.size() || each.result >= model.graph.outputs.size() ||
        inputs[each.input].kind != Value::Kind::Tensor || inputs[each.input].shape.size() != 4) {
      return fail("cache: wants inputs [batch, heads, rows, size] and outputs of the model");
    }
    const int64_t room = inputs[options.cache[0].input].shape[kCacheAxis];
    const bool is_alike = !each.result || inputs[each.input].shape[kCacheAxis] == room;
    if (options.fresh_rows > 0 && (!is_alike || options.fresh_rows >= room)) {
      return fail(concat("cache: ", options.fresh_rows, " new rows have no room in ", room));
    }
  }
  return Tracer(model, known, options).run(inputs);
}

}  // namespace lathe::onnx
