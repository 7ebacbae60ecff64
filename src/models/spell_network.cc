#include "lathe/models/spell_network.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lathe/api/network_json.h"
#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/models/write_topology.h"
#include "lathe/nn/layers.h"
#include "lathe/nn/sequential.h"

namespace lathe::models {
namespace {

Json number(int64_t value) { return Json::number(static_cast<double>(value)); }

Json spelled(const graph::Shape& shape) {
  Json json = Json::array();
  for (const int64_t size : shape) json.add(number(size));
  return json;
}

Json layer_json(const nn::Layer& layer, const std::string& name);
Json model_json(const nn::Layer& layer, const std::string& name);

Json choice(const nn::Choice& value) {
  if (value.parameters.empty()) return Json::string(value.name);
  Json json = Json::object();
  json.add("name", Json::string(value.name));
  for (const auto& [name, setting] : value.parameters) {
    json.add(name,
             setting.word.empty() ? Json::number(setting.number) : Json::string(setting.word));
  }
  return json;
}

class OptionSpeller {
 public:
  void operator()(std::string_view key, int64_t value) {
    if (value != 0) add(key, number(value));
  }
  void operator()(std::string_view key, int32_t value) { add(key, number(value)); }
  void operator()(std::string_view key, bool value) { add(key, Json::boolean(value)); }
  void operator()(std::string_view key, double value) {
    // Without a bound here; Keras and TensorFlow.js take a 0 for the bound.
    if (key != "maxValue" || value != 0) add(key, Json::number(value));
  }
  void operator()(std::string_view key, const std::string& value) {
    if (!value.empty()) add(key, Json::string(value));
  }
  // What the layer takes is said once, by the model.
  void operator()(std::string_view, const graph::Shape&) {}
  void operator()(std::string_view key, const nn::Sizes& value) {
    const auto& sizes = value.values;
    if (sizes.empty()) return;
    if (sizes.size() == 1) return add(key, number(sizes[0]));
    Json all = Json::array();
    // Those that are two for each axis.
    const bool is_paired = sizes.size() == 4 && (key == "padding" || key == "cropping");
    for (size_t i = 0; i < sizes.size(); i += is_paired ? 2 : 1) {
      all.add(is_paired ? Json::array({number(sizes[i]), number(sizes[i + 1])}) : number(sizes[i]));
    }
    add(key, std::move(all));
  }
  void operator()(std::string_view key, const nn::Seed& value) {
    if (value.value) add(key, Json::number(static_cast<double>(*value.value)));
  }
  // Readers would make up a name of their own, which is part of those of the weights.
  void operator()(std::string_view key, const nn::LayerPtr& value) {
    if (value == nullptr) return;
    const std::string& name = value->name();
    const bool is_model = value->model() != nullptr;
    add(key, is_model ? model_json(*value, name.empty() ? value->model()->name() : name)
                      : layer_json(*value, name.empty() ? std::string(value->class_name()) : name));
  }
  void operator()(std::string_view key, const std::vector<nn::LayerPtr>& value) {
    Json all = Json::array();
    for (const nn::LayerPtr& each : value) {
      if (each != nullptr) all.add(layer_json(*each, each->name()));
    }
    add(key, std::move(all));
  }
  void operator()(std::string_view key, const nn::Choice& value) {
    if (!value.empty()) add(key, choice(value));
  }
  void operator()(std::string_view key, const nn::WeightOptions& value) {
    (*this)(concat(key, "Initializer"), value.initializer);
    (*this)(concat(key, "Regularizer"), value.regularizer);
    (*this)(concat(key, "Constraint"), value.constraint);
  }

  Json config = Json::object();

 private:
  void add(std::string_view key, Json value) { config.add(std::string(key), std::move(value)); }
};

// The options of a layer that is made from options of this type; false for another one.
template <class Options>
bool spell_options(const nn::Layer& layer, OptionSpeller& speller) {
  const Options* kept = layer.options<Options>();
  if (kept == nullptr) return false;
  Options options = *kept;
  options.fields(speller);
  speller("activityRegularizer", options.activity_regularizer);
  return true;
}

using Speller = bool (*)(const nn::Layer&, OptionSpeller&);

Speller speller_of(std::string_view class_name) {
  static const std::map<std::string_view, Speller> kSpellers = {
#define LATHE_LAYER(class_, ...) {#class_, spell_options<nn::class_##Options>},
#include "lathe/nn/tables.def"
  };
  const auto found = kSpellers.find(class_name);
  return found == kSpellers.end() ? nullptr : found->second;
}

Json layer_json(const nn::Layer& layer, const std::string& name) {
  OptionSpeller speller;
  const Speller spell = speller_of(layer.class_name());
  const bool is_own = spell == nullptr || !spell(layer, speller);
  Json config = std::move(speller.config);
  if (!name.empty()) config.add("name", Json::string(name));
  config.add("trainable", Json::boolean(layer.trainable()));
  Json json = Json::object();
  json.add("class", Json::string(std::string(layer.class_name())));
  json.add("config", std::move(config));
  if (is_own) json.add("isOwn", Json::boolean(true));
  return json;
}

// What each value of a model comes from: a name, the call of it, the output of that.
using Sources = std::map<nn::ModelValue, Json>;

Sources sources_of(const nn::Model& model) {
  const auto source = [](const std::string& name, int64_t call, size_t output) {
    return Json::array({Json::string(name), number(call), number(static_cast<int64_t>(output))});
  };
  Sources sources;
  for (const nn::Port& input : model.inputs()) sources[input.value] = source(input.name, 0, 0);
  std::map<size_t, int64_t> calls;
  for (const nn::Call& call : model.calls()) {
    const int64_t count = calls[call.layer]++;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      sources[call.outputs[i]] = source(model.layers()[call.layer].name, count, i);
    }
  }
  return sources;
}

// Whether the layers stand in a row, as a Sequential has them.
bool is_row(const nn::Model& model) {
  const bool has_ports = model.inputs().size() == 1 && model.outputs().size() == 1 &&
                         !model.layers().empty() &&
                         model.inputs()[0].name == nn::row_input_name(model.layers()[0].name);
  if (!has_ports || model.calls().size() != model.layers().size()) return false;
  nn::ModelValue value = model.inputs()[0].value;
  for (size_t i = 0; i < model.calls().size(); ++i) {
    const nn::Call& call = model.calls()[i];
    const bool follows = call.layer == i && call.inputs.size() == 1 && call.inputs[0] == value;
    if (!follows || call.outputs.size() != 1) return false;
    value = call.outputs[0];
  }
  return model.outputs()[0].value == value;
}

Json placed_json(const nn::PlacedLayer& placed, bool says_shape) {
  if (placed.layer->model() != nullptr) return model_json(*placed.layer, placed.name);
  Json json = layer_json(*placed.layer, placed.name);
  if (!says_shape) return json;
  Json config = *json.find("config"), with_shape = Json::object();
  config.add("inputShape", spelled(placed.inputs[0]));
  for (size_t i = 0; i < json.keys().size(); ++i) {
    with_shape.add(json.keys()[i], json.keys()[i] == "config" ? config : json.values()[i]);
  }
  return with_shape;
}

Json calls_of(const nn::Model& model, size_t layer, const Sources& sources) {
  Json calls = Json::array();
  for (const nn::Call& call : model.calls()) {
    if (call.layer != layer) continue;
    Json inputs = Json::array();
    for (const nn::ModelValue value : call.inputs) inputs.add(sources.at(value));
    calls.add(std::move(inputs));
  }
  return calls;
}

Json network_json(const nn::Model& model, const std::string& name) {
  const bool has_row = is_row(model);
  const Sources sources = sources_of(model);
  Json network = Json::object(), layers = Json::array();
  network.add("name", Json::string(name));
  if (model.batch() > 0) network.add("batchSize", number(model.batch()));
  for (size_t i = 0; i < model.layers().size(); ++i) {
    Json layer = placed_json(model.layers()[i], has_row && i == 0);
    if (!has_row) layer.add("inputs", calls_of(model, i, sources));
    layers.add(std::move(layer));
  }
  network.add("layers", std::move(layers));
  if (has_row) return network;
  Json inputs = Json::array(), outputs = Json::array();
  for (const nn::Port& port : model.inputs()) {
    Json input = Json::object();
    input.add("name", Json::string(port.name));
    input.add("shape", spelled(model.shape(port.value)));
    inputs.add(std::move(input));
  }
  for (const nn::Port& port : model.outputs()) outputs.add(sources.at(port.value));
  network.add("inputs", std::move(inputs));
  network.add("outputs", std::move(outputs));
  return network;
}

// A model as a layer.
Json model_json(const nn::Layer& layer, const std::string& name) {
  const nn::Model& inner = *layer.model();
  Json config = network_json(inner, name);
  config.add("trainable", Json::boolean(layer.trainable()));
  Json json = Json::object();
  json.add("class", Json::string(is_row(inner) ? "Sequential" : "Model"));
  json.add("config", std::move(config));
  return json;
}

}  // namespace

Json spell_network(const nn::Model& model) { return network_json(model, model.name()); }

Result<Json> write_topology(const nn::Model& model) {
  LATHE_TRY(model.status());
  const auto summary = Json::parse(api::summary(model));
  LATHE_CHECK(summary);
  return write_topology(spell_network(model), *summary);
}

}  // namespace lathe::models
