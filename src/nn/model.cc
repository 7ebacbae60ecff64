#include "lathe/nn/model.h"

#include <algorithm>
#include <set>

#include "lathe/base/check.h"
#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/nn/regularizer.h"

namespace lathe::nn {
namespace {

constexpr size_t kMaxQuotedName = 100;
constexpr size_t kMaxRank = 8;
constexpr int64_t kAddressSpace = int64_t{1} << 32;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/';
}

std::string quoted_layer(std::string_view name) { return concat("layer \"", name, "\""); }

// The first of stem_1, stem_2, … that is free, from `number` on, which is moved to it.
template <class IsUsed>
std::string numbered(std::string_view stem, IsUsed is_used, int& number) {
  for (;; ++number) {
    std::string name = concat(stem, '_', number);
    if (!is_used(name)) return name;
  }
}

std::string join_shapes(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) append(text, text.empty() ? "" : " and ", bracketed(shape));
  return text;
}

std::string bad_name(std::string_view what, std::string_view name) {
  return concat(what, " name \"", name.substr(0, kMaxQuotedName),
                "\" must be of the characters a-z A-Z 0-9 _ - . and, after the first, /");
}

// Error: called with these shapes, the layer has other weights, `weights`.
Status check_weights(const BuiltLayer& built, const std::vector<Weight>& weights,
                     const std::vector<Shape>& shapes) {
  const bool fits = std::ranges::equal(built.weights, weights, {}, &Weight::shape, &Weight::shape);
  if (fits) return {};
  return fail(concat("its weights fit inputs of shape ", join_shapes(built.inputs),
                     ", so it cannot be called with ", join_shapes(shapes)));
}

// Error: a weight or state of both has the same name, as b/c of layer a and c of layer a/b.
Status check_distinct(const BuiltLayer& one, const BuiltLayer& other) {
  const auto is_below = [](const BuiltLayer& above, const BuiltLayer& below) {
    return below.name.starts_with(above.name) && below.name[above.name.size()] == '/';
  };
  if (!is_below(one, other) && !is_below(other, one)) return {};
  std::set<std::string> names;
  for (const BuiltLayer* layer : {&one, &other}) {
    for (const Weight& weight : layer->weights) {
      if (!names.insert(weight.name).second) {
        return fail(
            concat("a weight of layer \"", one.name, "\" is called ", weight.name, ", too"));
      }
    }
    for (const LayerState& state : layer->states) {
      if (!names.insert(concat(layer->name, '/', state.name)).second) {
        return fail(concat("a state of layer \"", one.name, "\" is called ", state.name, ", too"));
      }
    }
  }
  return {};
}

// The regularizer and the constraint of a weight.
Status check_rules(const Weight& weight) {
  const WeightOptions& options = weight.options;
  if (!options.regularizer.empty()) LATHE_TRY(find_regularizer(options.regularizer));
  if (options.constraint.empty()) return {};
  LATHE_ASSIGN_OR_RETURN(const auto constraint, find_constraint(options.constraint));
  return check_constraint(constraint, weight.shape);
}

}  // namespace

Status check_shape(std::string_view what, const Shape& shape) {
  if (shape.size() > kMaxRank) {
    return fail(
        concat(what, ": no more than ", kMaxRank, " axes are supported, got ", shape.size()));
  }
  int64_t bytes = sizeof(float);
  bool fits = true;
  for (const int64_t size : shape) {
    if (size < 1) return fail(concat(what, " ", bracketed(shape), ": every axis must be ≥ 1"));
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes) && bytes < kAddressSpace;
  }
  if (!fits) {
    return fail(concat(what, " ", bracketed(shape),
                       " does not fit the 4294967296 bytes that a module can address"));
  }
  return {};
}

bool is_name(std::string_view name) {
  return !name.empty() && name[0] != '/' && std::ranges::all_of(name, is_name_character);
}

Model::Model(std::string name, uint64_t seed) : name_(std::move(name)), seed_(seed) {}

int64_t BuiltLayer::parameter_count() const {
  int64_t count = 0;
  for (const Weight& weight : weights) count += graph::element_count(weight.shape);
  return count;
}

ModelValue Model::record_error(std::string message) {
  if (message_.empty()) message_ = std::move(message);
  return {};
}

ModelValue Model::add_value(Value value) {
  values_.push_back(std::move(value));
  return {static_cast<int32_t>(values_.size() - 1)};
}

ModelValue Model::input(Shape shape, std::string name) {
  if (failed()) return {};
  if (name.empty()) name = free_name("input");
  const Status named = check_name("input", name);
  if (!named) return record_error(named.error().message);
  const Status sized = check_shape(concat("input \"", name, "\""), shape);
  if (!sized) return record_error(sized.error().message);
  inputs_.push_back({std::move(name), add_value({std::move(shape), -1, inputs_.size()})});
  return inputs_.back().value;
}

ModelValue Model::call(const LayerPtr& layer, const std::vector<ModelValue>& inputs) {
  const std::vector<ModelValue> outputs = call_all(layer, inputs);
  if (outputs.empty()) return {};
  if (outputs.size() == 1) return outputs[0];
  return record_error(concat(quoted_layer(layers_[calls_.back().layer].name), " returns ",
                             outputs.size(), " outputs, expected one"));
}

std::vector<ModelValue> Model::call_all(const LayerPtr& layer,
                                        const std::vector<ModelValue>& inputs) {
  if (failed()) return {};
#ifndef __wasm__  // pages have no pointers
  if (layer == nullptr) {
    record_error("call: the layer is null");
    return {};
  }
#endif
  const auto found = std::ranges::find(layers_, layer, &BuiltLayer::layer);
  const bool is_new = found == layers_.end();
  const std::string name = is_new ? name_for(*layer) : found->name;
  if (const Status free = is_new ? check_name("layer", name) : Status{}; !free) {
    record_error(free.error().message);
    return {};
  }
  Result<size_t> call = add_call(layer, name, inputs);
  if (call) return calls_[*call].outputs;
  record_error(concat(quoted_layer(name), " (", layer->class_name(), "): ", call.error().message));
  return {};
}

Result<size_t> Model::add_call(const LayerPtr& layer, const std::string& name,
                               const std::vector<ModelValue>& inputs) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Shape> shapes, shapes_of(*layer, inputs));
  LATHE_ASSIGN_OR_RETURN(LayerPlan plan, layer->plan_call(shapes));
  for (const Shape& shape : plan.outputs) LATHE_TRY(check_shape("output shape", shape));
  const auto found = std::ranges::find(layers_, name, &BuiltLayer::name);
  Call call{static_cast<size_t>(found - layers_.begin()), inputs, {}};
  if (found == layers_.end()) {
    LATHE_ASSIGN_OR_RETURN(BuiltLayer built, build_layer(layer, name, plan));
    weight_bytes_ += built.parameter_count() * static_cast<int64_t>(sizeof(float));
    if (weight_bytes_ > kAddressSpace) {
      return fail(concat("its weights and those of preceding layers have ", weight_bytes_,
                         " bytes, of the ", kAddressSpace, " that a module can address"));
    }
    built.inputs = std::move(shapes);
    for (const BuiltLayer& other : layers_) LATHE_TRY(check_distinct(other, built));
    layers_.push_back(std::move(built));
  } else {
    LATHE_TRY(check_weights(*found, plan.weights, shapes));
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    call.outputs.push_back(
        add_value({std::move(plan.outputs[i]), static_cast<int32_t>(calls_.size()), i}));
  }
  calls_.push_back(std::move(call));
  return calls_.size() - 1;
}

Result<BuiltLayer> Model::build_layer(const LayerPtr& layer, const std::string& name,
                                      LayerPlan plan) {
  BuiltLayer built{layer,
                   name,
                   {},
                   {},
                   std::move(plan.outputs),
                   std::move(plan.weights),
                   std::move(plan.states)};
  LATHE_ASSIGN_OR_RETURN(built.activation, find_activation(layer->activation()));
  if (const Choice& rule = layer->activity_regularizer(); !rule.empty()) {
    LATHE_TRY(find_regularizer(rule));
  }
  for (Weight& weight : built.weights) {
    LATHE_TRY(check_shape(weight.name, weight.shape));
    auto initializer = find_initializer(weight.options.initializer);
    if (!initializer) return fail(concat(weight.name, ": ", initializer.error().message));
    const Status fits = check_initializer(*initializer, weight.shape);
    if (!fits) return fail(concat(weight.name, ": ", fits.error().message));
    const Status obeys = check_rules(weight);
    if (!obeys) return fail(concat(weight.name, ": ", obeys.error().message));
    weight.name = concat(name, '/', weight.name);
    weight.trainable = weight.trainable && layer->trainable();
  }
  return built;
}

Result<Model> Model::with_inputs(std::span<const Shape> shapes) const {
#ifndef __wasm__  // pages count before
  if (shapes.size() != inputs_.size()) {
    return fail(concat("with_inputs: ", shapes.size(), " shapes for ", inputs_.size(), " inputs"));
  }
#endif
  Model model(name_, seed_);
  model.batch_ = batch_;
  model.accepts_any_shape_ = true;
  std::vector<ModelValue> values(values_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    values[inputs_[i].value.id] = model.input(shapes[i], inputs_[i].name);
  }
  for (const Call& call : calls_) {
    std::vector<ModelValue> arguments;
    for (const ModelValue input : call.inputs) arguments.push_back(values[input.id]);
    const auto outputs = model.call_all(layers_[call.layer].layer, arguments);
    for (size_t i = 0; i < outputs.size(); ++i) values[call.outputs[i].id] = outputs[i];
  }
  for (const Port& output : outputs_) model.output(values[output.value.id], output.name);
  LATHE_TRY(model.status());
  for (size_t i = 0; i < layers_.size(); ++i) {
    const BuiltLayer& other = model.layers_[i];
    const Status fits = check_weights(layers_[i], other.weights, other.inputs);
    if (!fits) return fail(concat(quoted_layer(other.name), ": ", fits.error().message));
  }
  return model;
}

Result<std::vector<Shape>> Model::shapes_of(const Layer& layer,
                                            const std::vector<ModelValue>& inputs) const {
  if (inputs.empty()) return fail("is called with no input");
  std::vector<Shape> shapes;
  for (const ModelValue input : inputs) {
    if (input.id < 0 || input.id >= static_cast<int32_t>(values_.size())) {
      return fail(concat("the model has no value ", input.id));
    }
    shapes.push_back(shape(input));
    LATHE_TRY(check_shape("input shape", shapes.back()));
  }
  const Shape& declared = layer.input_shape();
  if (!declared.empty() && declared != shapes[0] && !accepts_any_shape_ &&
      layer.model() == nullptr) {
    return fail(concat("input shape ", bracketed(declared), " is not the shape ",
                       bracketed(shapes[0]), " of the ", description(inputs[0])));
  }
  return shapes;
}

Model& Model::output(ModelValue value, std::string name) {
  if (failed()) return *this;
  if (value.id < 0 || value.id >= static_cast<int32_t>(values_.size())) {
    record_error(concat("the model has no value ", value.id));
    return *this;
  }
  const auto is_output = [&](const std::string& n) {
    return std::ranges::find(outputs_, n, &Port::name) != outputs_.end();
  };
  if (name.empty()) {
    name = producer(value);
    int number = 1;
    if (is_output(name)) name = numbered(name, is_output, number);
  }
  if (!is_name(name)) {
    record_error(bad_name("output", name));
  } else if (is_output(name)) {
    record_error(concat("two outputs are called \"", name, "\""));
  } else {
    outputs_.push_back({std::move(name), value});
  }
  return *this;
}

Status Model::status() const {
  const auto wrong = [this](std::string_view what) {
    return fail(concat("model \"", name_, "\"", what));
  };
  if (failed()) return wrong(concat(": ", message_));
  if (values_.empty()) return wrong(" has no layers");
  if (inputs_.empty()) return wrong(" has no inputs");
  if (outputs_.empty()) return wrong(" has no outputs");
  return {};
}

const std::string& Model::producer(ModelValue value) const {
  const Value& from = values_[value.id];
  return from.call < 0 ? inputs_[from.index].name : layers_[calls_[from.call].layer].name;
}

std::string Model::description(ModelValue value) const {
  if (values_[value.id].call < 0) return concat("input \"", producer(value), "\"");
  return concat("output of ", quoted_layer(producer(value)));
}

std::vector<Variable> Model::weights() const {
  std::vector<Variable> all;
  for (const BuiltLayer& layer : layers_) {
    for (const Weight& weight : layer.weights) {
      const auto& [start, regularizer, constraint] = weight.options;
      const auto initializer = find_initializer(start);
      LATHE_CHECK(initializer);
      Variable& variable =
          all.emplace_back(weight.name, weight.shape, *initializer, weight.trainable);
      if (!regularizer.empty()) variable.regularizer = *find_regularizer(regularizer);
      if (!constraint.empty()) variable.constraint = *find_constraint(constraint);
    }
  }
  return all;
}

std::vector<LayerState> Model::states() const {
  std::vector<LayerState> all;
  for (const BuiltLayer& layer : layers_) {
    for (const LayerState& state : layer.states) {
      all.push_back({concat(layer.name, '/', state.name), state.shape});
    }
  }
  return all;
}

const Chosen<ActivationKind>* Model::last_activation(size_t output) const {
  const Value& from = values_[outputs_[output].value.id];
  if (from.call < 0) return nullptr;
  const BuiltLayer& built = layers_[calls_[from.call].layer];
  const Model* inner = built.layer->model();
  return inner == nullptr ? &built.activation : inner->last_activation(from.index);
}

std::vector<Tensor> Model::build(std::span<const Tensor> inputs, std::span<const Tensor> weights,
                                 Context& context) const {
  LATHE_CHECK(inputs.size() == inputs_.size());
  std::vector<Tensor> values(values_.size()), masks(values_.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[inputs_[i].value.id] = inputs[i];
    if (!context.masks.empty()) masks[inputs_[i].value.id] = context.masks[i];
  }
  std::vector<size_t> first_weight = {0};
  for (const BuiltLayer& layer : layers_) {
    first_weight.push_back(first_weight.back() + layer.weights.size());
  }
  LATHE_CHECK(first_weight.back() == weights.size());
  for (const Call& call : calls_) {
    const BuiltLayer& built = layers_[call.layer];
    Context inner = context.within(built.name, built.layer->trainable());
    inputs.front().builder->begin_part("forward", inner.layer());
    std::vector<Tensor> arguments;
    for (const ModelValue input : call.inputs) {
      arguments.push_back(values[input.id]);
      inner.masks.push_back(masks[input.id]);
    }
    auto results = built.layer->build_call(
        arguments, weights.subspan(first_weight[call.layer], built.weights.size()), inner);
    check_results(call, inputs[0], results);
    for (size_t i = 0; i < results.size(); ++i) {
      values[call.outputs[i].id] = inner.activated(built.activation, results[i]);
      inner.note_result(built.layer->activity_regularizer(), values[call.outputs[i].id]);
      if (!inner.output_masks.empty()) {
        masks[call.outputs[i].id] = inner.output_masks[i];
      } else if (built.layer->supports_masking()) {
        masks[call.outputs[i].id] = inner.masks[0];
      }
    }
  }
  std::vector<Tensor> results;
  for (const Port& output : outputs_) {
    results.push_back(values[output.value.id]);
    context.output_masks.push_back(masks[output.value.id]);
  }
  return results;
}

void Model::check_results(const Call& call, Tensor input, std::vector<Tensor>& results) const {
  graph::Builder& builder = *input.builder;
  const BuiltLayer& built = layers_[call.layer];
  for (size_t i = 0; builder.ok() && i < call.outputs.size(); ++i) {
    Shape planned = shape(call.outputs[i]);
    insert_at(planned, 0, input.shape().front());
    if (results.size() == call.outputs.size() && results[i].shape() == planned) continue;
    builder.error(concat(quoted_layer(built.name), " (", built.layer->class_name(), "): returns ",
                         i < results.size() ? bracketed(results[i].shape()) : "nothing",
                         ", but its plan has ", bracketed(planned)));
  }
  if (!builder.ok()) results.assign(call.outputs.size(), Tensor{&builder, {}});
}

Status Model::check_name(std::string_view what, const std::string& name) const {
  if (!is_name(name)) return fail(bad_name(what, name));
  for (const std::string_view reserved : {"optimizer", "random", "states", "totals"}) {
    const bool is_below = name.starts_with(reserved) && name[reserved.size()] == '/';
    if (name == reserved || is_below) return fail(concat(what, " name \"", name, "\" is reserved"));
  }
  if (!is_used(name)) return {};
  const bool is_input = std::ranges::find(inputs_, name, &Port::name) != inputs_.end();
  if (!is_input && what == "layer") return fail(concat("two layers are called \"", name, "\""));
  return fail(concat(what, " name \"", name, "\" is that of ", is_input ? "an input" : "a layer"));
}

bool Model::is_used(const std::string& name) const {
  return std::ranges::find(layers_, name, &BuiltLayer::name) != layers_.end() ||
         std::ranges::find(inputs_, name, &Port::name) != inputs_.end();
}

std::string Model::free_name(std::string_view stem) {
  int& number = numbers_.try_emplace(std::string(stem), 1).first->second;
  return numbered(
      stem, [this](const std::string& name) { return is_used(name); }, number);
}

std::string Model::name_for(const Layer& layer) {
  if (!layer.name().empty()) return layer.name();
  std::string stem(layer.class_name());
  for (char& c : stem) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return free_name(stem);
}

}  // namespace lathe::nn
