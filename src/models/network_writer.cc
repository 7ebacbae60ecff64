#include "lathe/models/network_writer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/models/write_topology.h"
#include "lathe/network/network_json.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/nn/sequential.h"

namespace lathe::models {
namespace {

Json number(int64_t value) { return Json::number(static_cast<double>(value)); }

Json shape_json(const graph::Shape& shape) {
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

class OptionWriter {
 public:
  void operator()(std::string_view key, int64_t value) {
    if (value != 0) add(key, number(value));
  }
  void operator()(std::string_view key, int32_t value) { add(key, number(value)); }
  void operator()(std::string_view key, bool value) { add(key, Json::boolean(value)); }
  void operator()(std::string_view key, double value) {
    // Unbounded here; Keras and TensorFlow.js interpret 0 as the bound.
    if (key != "maxValue" || value != 0) add(key, Json::number(value));
  }
  void operator()(std::string_view key, const std::string& value) {
    if (!value.empty()) add(key, Json::string(value));
  }
  // The input shape is stored once, by the model.
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
  // Readers would generate another name, which is part of those of the weights.
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
bool write_options(const nn::Layer& layer, OptionWriter& writer) {
  const Options* stored = layer.options<Options>();
  if (stored == nullptr) return false;
  Options options = *stored;
  options.fields(writer);
  writer("activityRegularizer", options.activity_regularizer);
  return true;
}

using WriteOptions = bool (*)(const nn::Layer&, OptionWriter&);

WriteOptions writer_of(std::string_view class_name) {
  static const std::map<std::string_view, WriteOptions> kSpellers = {
#define LATHE_LAYER(class_, ...) {#class_, write_options<nn::class_##Options>},
#include "lathe/nn/tables.def"
  };
  const auto found = kSpellers.find(class_name);
  return found == kSpellers.end() ? nullptr : found->second;
}

Json layer_json(const nn::Layer& layer, const std::string& name) {
  OptionWriter writer;
  const WriteOptions write = writer_of(layer.class_name());
  const bool is_custom = write == nullptr || !write(layer, writer);
  Json config = std::move(writer.config);
  if (!name.empty()) config.add("name", Json::string(name));
  config.add("trainable", Json::boolean(layer.trainable()));
  Json json = Json::object();
  json.add("class", Json::string(std::string(layer.class_name())));
  json.add("config", std::move(config));
  if (is_custom) json.add("isCustom", Json::boolean(true));
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

// Whether the layers form a chain, as in a Sequential.
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

Json layer_of_model_json(const nn::BuiltLayer& built, bool has_shape) {
  if (built.layer->model() != nullptr) return model_json(*built.layer, built.name);
  Json json = layer_json(*built.layer, built.name);
  if (!has_shape) return json;
  Json config = *json.find("config"), with_shape = Json::object();
  config.add("inputShape", shape_json(built.inputs[0]));
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
    Json layer = layer_of_model_json(model.layers()[i], has_row && i == 0);
    if (!has_row) layer.add("inputs", calls_of(model, i, sources));
    layers.add(std::move(layer));
  }
  network.add("layers", std::move(layers));
  if (has_row) return network;
  Json inputs = Json::array(), outputs = Json::array();
  for (const nn::Port& port : model.inputs()) {
    Json input = Json::object();
    input.add("name", Json::string(port.name));
    input.add("shape", shape_json(model.shape(port.value)));
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

Json write_network(const nn::Model& model) { return network_json(model, model.name()); }

Result<Json> write_topology(const nn::Model& model) {
  LATHE_TRY(model.status());
  const auto summary = Json::parse(network::summary(model));
  LATHE_CHECK(summary);
  return write_topology(write_network(model), *summary);
}

}  // namespace lathe::models
