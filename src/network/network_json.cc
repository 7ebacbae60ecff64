#include "lathe/network/network_json.h"

#include <algorithm>
#include <map>
#include <span>

#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/network/host_layer.h"
#include "lathe/network/json_reader.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/nn/sequential.h"

namespace lathe::network {
namespace {

struct ParsedModel {
  nn::Model model;
  bool trainable = true;
};

Result<ParsedModel> parse_network(const Json& json, const std::string& path);

// Options of a layer, among them layers that it is around.
class ConfigReader {
 public:
  ConfigReader(const Json& json, const std::string& path) : reader_(json, path) {}

  template <class T>
  void operator()(std::string_view key, T& value) {
    reader_(key, value);
  }
  void operator()(std::string_view key, nn::LayerPtr& layer) {
    if (const Json* json = reader_.find(key)) read(*json, reader_.path_of(key), layer);
  }
  void operator()(std::string_view key, std::vector<nn::LayerPtr>& layers) {
    const Json* json = reader_.find(key);
    if (json == nullptr) return;
    if (!json->is_array()) status_ = fail(concat(reader_.path_of(key), ": must be an array"));
    for (size_t i = 0; status_ && i < json->values().size(); ++i) {
      read(json->values()[i], concat(reader_.path_of(key), '[', i, ']'), layers.emplace_back());
    }
  }

  Status finish() { return status_ ? reader_.finish() : status_; }

 private:
  void read(const Json& json, const std::string& path, nn::LayerPtr& to) {
    if (!status_) return;
    auto layer = parse_layer(json, path);
    if (layer) {
      to = std::move(*layer);
    } else {
      status_ = std::unexpected(std::move(layer.error()));
    }
  }

  ObjectReader reader_;
  Status status_;
};

template <class Options>
Result<nn::LayerPtr> read_layer(nn::LayerPtr (*make)(Options), const Json* json,
                                const std::string& path) {
  Options options;
  if (json != nullptr) {
    ConfigReader reader(*json, path);
    nn::visit_options(options, reader);
    LATHE_TRY(reader.finish());
  }
  return make(std::move(options));
}

// One for each of nn::layer_classes().
constexpr Result<nn::LayerPtr> (*kReaders[])(const Json*, const std::string&) = {
#define LATHE_LAYER(class_, function_, ...)                            \
  [](const Json* json, const std::string& path) {                      \
    return read_layer<nn::class_##Options>(nn::function_, json, path); \
  },
#include "lathe/nn/tables.def"
};

// What an input reads: a layer or input of the model, which of its calls, which output of that.
struct Reference {
  std::string name;
  size_t call = 0, output = 0;
};

// An element of "layers".
struct ParsedLayer {
  nn::LayerPtr layer;
  std::vector<std::vector<Reference>> calls;
  std::string path;
};

Result<Reference> parse_reference(const Json& json, const std::string& path) {
  const std::vector<Json>& parts = json.values();
  const bool sound = json.is_array() && !parts.empty() && parts.size() <= 3 &&
                     parts[0].is_string() &&
                     std::all_of(parts.begin() + 1, parts.end(),
                                 [](const Json& number) { return number.is_count(); });
  if (!sound) return fail(concat(path, ": must be [name], [name, call] or [name, call, output]"));
  Reference reference{parts[0].string()};
  if (parts.size() > 1) reference.call = static_cast<size_t>(parts[1].number());
  if (parts.size() > 2) reference.output = static_cast<size_t>(parts[2].number());
  return reference;
}

Status parse_calls(const Json* json, ParsedLayer& layer) {
  if (json == nullptr) return {};
  const std::string path = concat(layer.path, ".inputs");
  const auto lists = [](const Json& each) {
    return each.is_array() && std::ranges::all_of(each.values(), &Json::is_array);
  };
  if (!json->is_array() || !std::ranges::all_of(json->values(), lists)) {
    return fail(concat(path, ": must be a list of calls, each a list of [name, call, output]"));
  }
  for (const Json& call : json->values()) {
    std::vector<Reference>& inputs = layer.calls.emplace_back();
    for (const Json& input : call.values()) {
      LATHE_ASSIGN_OR_RETURN(inputs.emplace_back(), parse_reference(input, path));
    }
  }
  return {};
}

Result<nn::LayerPtr> parse_layer(std::string_view class_name, const Json* config,
                                 const std::string& path) {
  if (class_name == "Model" || class_name == "Sequential") {
    if (config == nullptr) return fail(concat(path, ": is missing"));
    LATHE_ASSIGN_OR_RETURN(ParsedModel inner, parse_network(*config, path));
    return nn::as_layer(std::move(inner.model), inner.trainable);
  }
  const std::span<const std::string_view> classes = nn::layer_classes();
  const auto found = std::ranges::find(classes, class_name);
  if (found == classes.end()) return fail(nn::unknown_name("layer class", class_name, classes));
  return kReaders[found - classes.begin()](config, path);
}

Result<nn::LayerPtr> parse_host_layer(std::string class_name, const Json& host, const Json* config,
                                      const std::string& path) {
  HostLayerOptions options{std::move(class_name)};
  ObjectReader reader(host, concat(path, ".host"));
  reader.require("id");
  reader("id", options.id);
  reader("supportsMasking", options.supports_masking);
  reader.integers("stateSize", options.state_sizes);
  LATHE_TRY(reader.finish());
  if (config != nullptr) {
    ObjectReader common(*config, concat(path, ".config"));
    common("name", options.name);
    common("inputShape", options.input_shape);
    common("trainable", options.trainable);
    common("activityRegularizer", options.activity_regularizer);
    LATHE_TRY(common.status());
  }
  return host_layer(std::move(options));
}

// "inputs" is read only if the caller needs it.
Result<nn::LayerPtr> parse_layer(const Json& json, const std::string& path, const Json** calls) {
  ObjectReader reader(json, path);
  std::string class_name;
  reader.require("class");
  reader("class", class_name);
  const Json* config = reader.find("config");
  const Json* host = reader.find("host");
  if (calls != nullptr) *calls = reader.require("inputs");
  LATHE_TRY(reader.finish());
  if (host != nullptr) return parse_host_layer(std::move(class_name), *host, config, path);
  auto made = parse_layer(class_name, config, reader.path_of("config"));
  if (!made && made.error().message.starts_with("unknown layer class")) {
    return fail(concat(reader.path_of("class"), ": ", made.error().message));
  }
  return made;
}

Result<std::vector<ParsedLayer>> parse_layers(const Json& json, const std::string& path,
                                              bool with_calls) {
  std::vector<ParsedLayer> layers;
  if (!json.is_array()) return fail(concat(path, ": must be an array"));
  for (size_t i = 0; i < json.values().size(); ++i) {
    ParsedLayer layer{nullptr, {}, concat(path, '[', i, ']')};
    const Json* calls = nullptr;
    LATHE_ASSIGN_OR_RETURN(
        layer.layer, parse_layer(json.values()[i], layer.path, with_calls ? &calls : nullptr));
    LATHE_TRY(parse_calls(calls, layer));
    layers.push_back(std::move(layer));
  }
  return layers;
}

// The values of a model by their producer: outputs of each call of a layer, inputs as one call.
using Values = std::map<std::string, std::vector<std::vector<nn::ModelValue>>, std::less<>>;

// The value that a reference means, or none if nothing of that name has been called so often yet.
Result<nn::ModelValue> find_value(const Values& values, const Reference& reference,
                                  const std::string& path) {
  const auto& [name, call, output] = reference;
  const auto found = values.find(name);
  if (found == values.end() || call >= found->second.size()) return nn::ModelValue{};
  if (output < found->second[call].size()) return found->second[call][output];
  return fail(concat(path, ": ", json_string(name), " has ", found->second[call].size(),
                     " outputs, so there is no output ", output));
}

std::string unresolved(const Reference& reference) {
  return concat("call ", reference.call, " of ", json_string(reference.name),
                " does not exist, or depends on its result");
}

// Makes every call once its inputs exist: a shared layer may be called on
// comes from a later one.
Status add_calls(nn::Model& model, const std::vector<ParsedLayer>& layers, Values& values) {
  std::vector<size_t> made(layers.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < layers.size(); ++i) {
      const ParsedLayer& layer = layers[i];
      while (made[i] < layer.calls.size()) {
        std::vector<nn::ModelValue> inputs;
        for (const Reference& reference : layer.calls[made[i]]) {
          LATHE_ASSIGN_OR_RETURN(const nn::ModelValue value,
                                 find_value(values, reference, layer.path));
          if (value.id >= 0) inputs.push_back(value);
        }
        if (inputs.size() < layer.calls[made[i]].size()) break;
        const auto outputs = model.call_all(layer.layer, inputs);
        if (outputs.empty()) return model.status();
        values[model.layers()[model.calls().back().layer].name].push_back(outputs);
        made[i] += 1;
        moved = true;
      }
    }
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    if (made[i] == layers[i].calls.size()) continue;
    for (const Reference& reference : layers[i].calls[made[i]]) {
      LATHE_ASSIGN_OR_RETURN(const nn::ModelValue value,
                             find_value(values, reference, layers[i].path));
      if (value.id < 0) return fail(concat(layers[i].path, ".inputs: ", unresolved(reference)));
    }
  }
  return {};
}

Status parse_inputs(const Json& json, const std::string& path, nn::Model& model, Values& values) {
  if (!json.is_array()) return fail(concat(path, ": must be an array"));
  for (size_t i = 0; i < json.values().size(); ++i) {
    ObjectReader reader(json.values()[i], concat(path, '[', i, ']'));
    std::string name;
    graph::Shape shape;
    reader("name", name);
    reader.require("shape");
    reader("shape", shape);
    LATHE_TRY(reader.finish());
    const nn::ModelValue value = model.input(std::move(shape), std::move(name));
    if (value.id < 0) return model.status();
    values[model.inputs().back().name] = {{value}};
  }
  return {};
}

Status parse_outputs(const Json& json, const std::string& path, nn::Model& model,
                     const Values& values) {
  if (!json.is_array()) return fail(concat(path, ": must be an array"));
  for (const Json& each : json.values()) {
    LATHE_ASSIGN_OR_RETURN(const Reference reference, parse_reference(each, path));
    LATHE_ASSIGN_OR_RETURN(const nn::ModelValue value, find_value(values, reference, path));
    if (value.id < 0) return fail(concat(path, ": ", unresolved(reference)));
    model.output(value);
  }
  return model.status();
}

Result<ParsedModel> parse_network(const Json& json, const std::string& path) {
  ObjectReader reader(json, path);
  std::string name;
  uint64_t seed = 42;
  int64_t batch = 0;
  bool trainable = true;
  reader("name", name);
  reader("seed", seed);
  reader("batchSize", batch);
  if (!path.empty()) reader("trainable", trainable);
  const Json* layers = reader.require("layers");
  const Json* inputs = reader.find("inputs");
  std::string input;
  if (inputs == nullptr) reader("input", input);
  if (name.empty()) name = inputs == nullptr ? "sequential" : "model";
  const Json* outputs = inputs == nullptr ? nullptr : reader.require("outputs");
  LATHE_TRY(reader.finish());
  LATHE_ASSIGN_OR_RETURN(const std::vector<ParsedLayer> parsed,
                         parse_layers(*layers, reader.path_of("layers"), inputs != nullptr));
  if (inputs == nullptr) {
    nn::Sequential model(std::move(name), seed);
    model.set_batch_size(batch);
    model.name_input(std::move(input));
    for (const ParsedLayer& layer : parsed) model.add(layer.layer);
    LATHE_TRY(model.status());
    return ParsedModel{std::move(model), trainable};
  }
  nn::Model model(std::move(name), seed);
  model.set_batch_size(batch);
  Values values;
  LATHE_TRY(parse_inputs(*inputs, reader.path_of("inputs"), model, values));
  LATHE_TRY(add_calls(model, parsed, values));
  LATHE_TRY(parse_outputs(*outputs, reader.path_of("outputs"), model, values));
  return ParsedModel{std::move(model), trainable};
}

// The shape of any number of rows.
void write_with_batch(JsonWriter& json, const graph::Shape& shape) {
  json.begin_array().raw("null");
  for (const int64_t size : shape) json.value(size);
  json.end_array();
}

int64_t trainable_count(const std::vector<nn::Weight>& weights) {
  int64_t count = 0;
  for (const nn::Weight& weight : weights) {
    if (weight.trainable) count += graph::element_count(weight.shape);
  }
  return count;
}

// "layers" of a model; those of nested models within them.
void write_layers(JsonWriter& json, const nn::Model& model) {
  json.key("layers").begin_array();
  for (size_t i = 0; i < model.layers().size(); ++i) {
    const nn::BuiltLayer& layer = model.layers()[i];
    json.begin_object().member("name", layer.name).member("class", layer.layer->class_name());
    write_with_batch(json.key("outputShape"), layer.outputs[0]);
    json.key("outputShapes").begin_array();
    for (const graph::Shape& shape : layer.outputs) write_with_batch(json, shape);
    json.end_array().member("params", layer.parameter_count());
    json.member("trainableParams", trainable_count(layer.weights)).key("inputs").begin_array();
    for (const nn::Call& call : model.calls()) {
      if (call.layer != i) continue;
      json.begin_array();
      for (const nn::ModelValue value : call.inputs) json.value(model.producer(value));
      json.end_array();
    }
    json.end_array();
    if (const nn::Model* inner = layer.layer->model()) write_layers(json, *inner);
    json.end_object();
  }
  json.end_array();
}

void write_ports(JsonWriter& json, std::string_view key, const nn::Model& model,
                 const std::vector<nn::Port>& ports) {
  json.key(key).begin_array();
  for (const nn::Port& each : ports) {
    json.begin_object().member("name", each.name).member("shape", model.shape(each.value));
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Result<nn::LayerPtr> parse_layer(const Json& json, const std::string& path) {
  return parse_layer(json, path, nullptr);
}

Result<nn::Model> parse_model(std::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  LATHE_ASSIGN_OR_RETURN(ParsedModel parsed, parse_network(json, ""));
  return std::move(parsed.model);
}

std::string summary(const nn::Model& model) {
  int64_t total = 0, trainable = 0;
  std::vector<const nn::Weight*> weights;
  for (const bool is_trainable : {true, false}) {
    for (const nn::BuiltLayer& layer : model.layers()) {
      for (const nn::Weight& weight : layer.weights) {
        if (weight.trainable != is_trainable) continue;
        weights.push_back(&weight);
        total += graph::element_count(weight.shape);
        if (is_trainable) trainable += graph::element_count(weight.shape);
      }
    }
  }
  JsonWriter json;
  json.begin_object().member("name", model.name());
  write_ports(json, "inputs", model, model.inputs());
  write_ports(json, "outputs", model, model.outputs());
  json.member("inputShape", model.input_shape()).member("outputShape", model.output_shape());
  json.member("totalParams", total).member("trainableParams", trainable);
  json.member("stateful", !model.states().empty());
  write_layers(json, model);
  json.key("weights").begin_array();
  for (const nn::Weight* each : weights) {
    json.begin_object().member("name", each->name).member("shape", each->shape);
    json.member("trainable", each->trainable).end_object();
  }
  return json.end_array().end_object().release();
}

}  // namespace lathe::network
