#include "lathe/models/write_topology.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/models/keras_names.h"
#include "lathe/nn/layers.h"

namespace lathe::models {
namespace {

Json number(int64_t value) { return Json::number(static_cast<double>(value)); }

// [batch, size…], null for a batch of any size.
Json batch_shape(const graph::Shape& shape, int64_t batch) {
  Json json = Json::array();
  json.add(batch > 0 ? number(batch) : Json());
  for (const int64_t size : shape) json.add(number(size));
  return json;
}

Result<Json> layer_json(const nn::Layer& layer, const std::string& name, bool trainable);

// Options of a layer in the words of Keras.
class OptionWriter {
 public:
  void operator()(std::string_view key, int64_t value) {
    if (value != 0) add(key, number(value));
  }
  void operator()(std::string_view key, int32_t value) { add(key, number(value)); }
  void operator()(std::string_view key, bool value) { add(key, Json::boolean(value)); }
  void operator()(std::string_view key, double value) { add(key, Json::number(value)); }
  void operator()(std::string_view key, const std::string& value) {
    if (!value.empty()) add(key, Json::string(to_snake_case(value)));
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
  void operator()(std::string_view key, const nn::LayerPtr& value) {
    if (value != nullptr) add(key, within(*value));
  }
  void operator()(std::string_view key, const std::vector<nn::LayerPtr>& value) {
    Json all = Json::array();
    for (const nn::LayerPtr& each : value) {
      if (each != nullptr) all.add(within(*each));
    }
    add(key, std::move(all));
  }
  void operator()(std::string_view key, const nn::Choice& value) {
    if (!value.empty()) add(key, choice(key, value));
  }
  void operator()(std::string_view key, const nn::WeightOptions& value) {
    (*this)(concat(key, "Initializer"), value.initializer);
    (*this)(concat(key, "Regularizer"), value.regularizer);
    (*this)(concat(key, "Constraint"), value.constraint);
  }

  Status status;
  Json config = Json::object();

 private:
  void add(std::string_view key, Json value) { config.add(to_snake_case(key), std::move(value)); }

  Json within(const nn::Layer& layer) {
    auto json = layer_json(layer, layer.name(), layer.trainable());
    if (json) return std::move(*json);
    if (status) status = std::unexpected(std::move(json.error()));
    return {};
  }

  static Json parameters(const nn::Choice& value) {
    Json json = Json::object();
    for (const auto& [name, setting] : value.parameters) {
      json.add(to_snake_case(name), setting.word.empty()
                                        ? Json::number(setting.number)
                                        : Json::string(to_snake_case(setting.word)));
    }
    return json;
  }

  static Json choice(std::string_view key, const nn::Choice& value) {
    const auto rows = table_of(key);
    const nn::Row* row = rows ? find_row(*rows, value.name) : nullptr;
    std::string name = row == nullptr ? value.name : std::string(row->name);
    const bool is_activation = rows && is_activation_table(*rows);
    if (is_activation) {
      name = to_snake_case(name);
    } else if (const auto theirs = keras_name(KerasTable::Regularizer, name)) {
      name = *theirs;
    } else if (name[0] >= 'a' && name[0] <= 'z') {
      name[0] = static_cast<char>(name[0] - 'a' + 'A');
    }
    if (is_activation && value.parameters.empty()) return Json::string(std::move(name));
    Json json = Json::object();
    json.add("class_name", Json::string(std::move(name)));
    json.add("config", parameters(value));
    return json;
  }
};

// The class and options of a layer that is made from options of this type, or nothing.
template <class Options>
bool write_options(const nn::Layer& layer, OptionWriter& writer) {
  const Options* kept = layer.options<Options>();
  if (kept == nullptr) return false;
  Options options = *kept;
  options.fields(writer);
  writer("activityRegularizer", options.activity_regularizer);
  return true;
}

using Writer = bool (*)(const nn::Layer&, OptionWriter&);

Writer writer_of(std::string_view class_name) {
  static const std::map<std::string_view, Writer> kWriters = {
#define LATHE_LAYER(class_, ...) {#class_, write_options<nn::class_##Options>},
#include "lathe/nn/tables.def"
  };
  const auto found = kWriters.find(class_name);
  return found == kWriters.end() ? nullptr : found->second;
}

Json keras_layer(std::string_view class_name, Json config) {
  Json json = Json::object();
  json.add("class_name", Json::string(std::string(class_name)));
  json.add("config", std::move(config));
  return json;
}

Result<Json> layer_json(const nn::Layer& layer, const std::string& name, bool trainable) {
  OptionWriter writer;
  const Writer write = writer_of(layer.class_name());
  if (write == nullptr || !write(layer, writer)) {
    return fail(concat("layer \"", name, "\" (", layer.class_name(),
                       ") cannot be saved: it is no layer of the package"));
  }
  LATHE_TRY(writer.status);
  std::string_view class_name = layer.class_name();
  Json config = std::move(writer.config);
  // An activation with parameters is a class of its own.
  if (class_name == "Activation" && !layer.activation().parameters.empty()) {
    const nn::Row* row = find_row(nn::activations(), layer.activation().name);
    const auto theirs =
        row == nullptr ? std::nullopt : keras_name(KerasTable::Activation, row->name);
    if (theirs) {
      class_name = *theirs;
      Json parameters = config.at("activation").at("config");
      config = std::move(parameters);
    }
  }
  if (!name.empty()) config.add("name", Json::string(name));
  config.add("trainable", Json::boolean(trainable));
  return keras_layer(class_name, std::move(config));
}

// What each value of a model comes from: a name, the call of it, the output of that.
struct Source {
  std::string name;
  int64_t call = 0, output = 0;
};

std::map<nn::ModelValue, Source> sources_of(const nn::Model& model) {
  std::map<nn::ModelValue, Source> sources;
  for (const nn::Port& input : model.inputs()) sources[input.value] = {input.name};
  std::map<size_t, int64_t> calls;
  for (const nn::Call& call : model.calls()) {
    const nn::PlacedLayer& placed = model.layers()[call.layer];
    // A nested model counts its own making as its first call.
    const int64_t number = calls[call.layer]++ + (placed.layer->model() != nullptr ? 1 : 0);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      sources[call.outputs[i]] = {placed.name, number, static_cast<int64_t>(i)};
    }
  }
  return sources;
}

Json reference(const Source& source, bool with_options) {
  Json json = Json::array({Json::string(source.name), number(source.call), number(source.output)});
  if (with_options) json.add(Json::object());
  return json;
}

// Whether the layers stand in a row, as a Sequential has them.
bool is_row(const nn::Model& model) {
  const bool has_ports = model.inputs().size() == 1 && model.outputs().size() == 1 &&
                         model.inputs()[0].name == "input_1" && !model.layers().empty();
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

Result<Json> model_json(const nn::Model& model, bool trainable);

Result<Json> placed_json(const nn::PlacedLayer& placed, bool trainable) {
  const bool is_trained = trainable && placed.layer->trainable();
  if (const nn::Model* inner = placed.layer->model()) return model_json(*inner, is_trained);
  LATHE_ASSIGN_OR_RETURN(Json json, layer_json(*placed.layer, placed.name, is_trained));
  if (placed.layer->class_name() != "Reshape") return json;
  // TensorFlow.js does not work out a -1 where the sizes are known.
  Json shape = Json::array(), config = Json::object();
  for (const int64_t size : placed.outputs[0]) shape.add(number(size));
  const Json& written = *json.find("config");
  for (size_t i = 0; i < written.keys().size(); ++i) {
    const bool is_shape = written.keys()[i] == "target_shape";
    config.add(written.keys()[i], is_shape ? shape : written.values()[i]);
  }
  return keras_layer("Reshape", std::move(config));
}

Json input_config(const graph::Shape& shape, int64_t batch) {
  Json config = Json::object();
  config.add("batch_input_shape", batch_shape(shape, batch));
  config.add("dtype", Json::string("float32"));
  return config;
}

Result<Json> row_json(const nn::Model& model, bool trainable) {
  Json layers = Json::array();
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const nn::PlacedLayer& placed = model.layers()[i];
    LATHE_ASSIGN_OR_RETURN(Json json, placed_json(placed, trainable));
    if (i == 0 && placed.layer->model() == nullptr) {
      Json config = *json.find("config");
      const Json input = input_config(placed.inputs[0], model.batch());
      for (size_t k = 0; k < input.keys().size(); ++k) {
        if (config.find(input.keys()[k]) == nullptr) {
          config.add(input.keys()[k], input.values()[k]);
        }
      }
      json = keras_layer(json.find("class_name")->string(), std::move(config));
    }
    layers.add(std::move(json));
  }
  Json config = Json::object();
  config.add("name", Json::string(model.name()));
  config.add("layers", std::move(layers));
  return keras_layer("Sequential", std::move(config));
}

Json input_layer(const nn::Port& port, const nn::Model& model) {
  Json config = input_config(model.shape(port.value), model.batch());
  config.add("sparse", Json::boolean(false));
  config.add("name", Json::string(port.name));
  Json json = keras_layer("InputLayer", std::move(config));
  json.add("name", Json::string(port.name));
  json.add("inbound_nodes", Json::array());
  return json;
}

Result<Json> graph_json(const nn::Model& model, bool trainable) {
  const auto sources = sources_of(model);
  Json layers = Json::array(), inputs = Json::array(), outputs = Json::array();
  for (const nn::Port& port : model.inputs()) {
    layers.add(input_layer(port, model));
    inputs.add(reference({port.name}, false));
  }
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const nn::PlacedLayer& placed = model.layers()[i];
    LATHE_ASSIGN_OR_RETURN(Json json, placed_json(placed, trainable));
    Json nodes = Json::array();
    for (const nn::Call& call : model.calls()) {
      if (call.layer != i) continue;
      Json node = Json::array();
      for (const nn::ModelValue value : call.inputs) node.add(reference(sources.at(value), true));
      nodes.add(std::move(node));
    }
    json.add("name", Json::string(placed.name));
    json.add("inbound_nodes", std::move(nodes));
    layers.add(std::move(json));
  }
  for (const nn::Port& port : model.outputs())
    outputs.add(reference(sources.at(port.value), false));
  Json config = Json::object();
  config.add("name", Json::string(model.name()));
  config.add("layers", std::move(layers));
  config.add("input_layers", std::move(inputs));
  config.add("output_layers", std::move(outputs));
  return keras_layer("Model", std::move(config));
}

Result<Json> model_json(const nn::Model& model, bool trainable) {
  return is_row(model) ? row_json(model, trainable) : graph_json(model, trainable);
}

}  // namespace

Result<Json> write_topology(const nn::Model& model) {
  LATHE_TRY(model.status());
  LATHE_ASSIGN_OR_RETURN(Json json, model_json(model, true));
  json.add("keras_version", Json::string("tensorlathe"));
  json.add("backend", Json::string("tensor_flow.js"));
  return json;
}

}  // namespace lathe::models
