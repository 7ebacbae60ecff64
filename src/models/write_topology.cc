#include "lathe/models/write_topology.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/models/keras_names.h"

namespace lathe::models {
namespace {

Json keras_layer(std::string class_name, Json config) {
  Json json = Json::object();
  json.add("class_name", Json::string(std::move(class_name)));
  json.add("config", std::move(config));
  return json;
}

bool is_model(const Json& layer) { return is_model_class(layer.at("class").string()); }

bool is_layer(const Json& value) {
  return value.at("class").is_string() && value.at("config").is_object();
}

// The object with other values of these keys, missing keys added.
Json assigned(const Json& object, const Json& values) {
  Json result = Json::object();
  for (size_t i = 0; i < object.keys().size(); ++i) {
    const Json* value = values.find(object.keys()[i]);
    result.add(object.keys()[i], value == nullptr ? object.values()[i] : *value);
  }
  for (size_t i = 0; i < values.keys().size(); ++i) {
    if (object.find(values.keys()[i]) == nullptr) result.add(values.keys()[i], values.values()[i]);
  }
  return result;
}

class TopologyWriter {
 public:
  Json model(const Json& network, const Json& summary_of_layer, const Json& input_shape,
             bool trainable);

  Status status;

 private:
  void add_problem(std::string problem) {
    if (status) status = fail(std::move(problem));
  }

  Json layer(const Json& layer, const Json& summary_of_layer, bool trainable);
  Json plain_layer(const Json& layer);
  Json config(const Json& options, bool verbatim_strings);
  Json value(const std::string& name, const Json& value);
  Json choice(RowTable rows, const Json& value);
};

// [batch, size…], null for a batch of any size.
Json input_config(const Json& shape, const Json& network) {
  Json sizes = Json::array({network.at("batchSize")});
  for (const Json& size : shape.values()) sizes.add(size);
  Json config = Json::object();
  config.add("batch_input_shape", std::move(sizes));
  config.add("dtype", Json::string("float32"));
  return config;
}

Json input_layer(const Json& name, const Json& shape, const Json& network) {
  Json config = input_config(shape, network);
  config.add("sparse", Json::boolean(false));
  config.add("name", name);
  return keras_layer("InputLayer", std::move(config));
}

Json graph_input(const Json& input, const Json& network) {
  Json json = input_layer(input.at("name"), input.at("shape"), network);
  json.add("name", input.at("name"));
  json.add("inbound_nodes", Json::array());
  return json;
}

// References to outputs of layers. For a nested model its construction counts as the first call.
class ReferenceWriter {
 public:
  explicit ReferenceWriter(const Json& network) {
    for (const Json& layer : network.at("layers").values()) {
      if (is_model(layer)) nested_.insert(layer.at("config").at("name").string());
    }
  }

  Json operator()(const Json& reference, bool with_options) const {
    const auto& parts = reference.values();
    const auto count = [&](size_t at) { return parts.size() > at ? parts[at].number() : 0; };
    const Json name = parts.empty() ? Json() : parts[0];
    const double call = count(1) + (nested_.contains(name.string()) ? 1 : 0);
    Json json = Json::array({name, Json::number(call), Json::number(count(2))});
    if (with_options) json.add(Json::object());
    return json;
  }

 private:
  std::set<std::string> nested_;
};

// The layers of a graph with the references of each call, after its inputs.
Json graph_config(const Json& network, const std::vector<Json>& result) {
  const ReferenceWriter reference(network);
  Json layers = Json::array(), inputs = Json::array(), outputs = Json::array();
  for (const Json& input : network.at("inputs").values()) {
    layers.add(graph_input(input, network));
    inputs.add(reference(Json::array({input.at("name")}), false));
  }
  for (size_t i = 0; i < result.size(); ++i) {
    Json nodes = Json::array(), layer = result[i];
    for (const Json& call : network.at("layers").values()[i].at("inputs").values()) {
      Json node = Json::array();
      for (const Json& each : call.values()) node.add(reference(each, true));
      nodes.add(std::move(node));
    }
    layer.add("name", layer.at("config").at("name"));
    layer.add("inbound_nodes", std::move(nodes));
    layers.add(std::move(layer));
  }
  for (const Json& output : network.at("outputs").values()) outputs.add(reference(output, false));
  Json config = Json::object();
  config.add("name", network.at("name"));
  config.add("layers", std::move(layers));
  config.add("input_layers", std::move(inputs));
  config.add("output_layers", std::move(outputs));
  return config;
}

Json TopologyWriter::model(const Json& network, const Json& summary_of_layer,
                           const Json& input_shape, bool trainable) {
  const Json& flag = network.at("trainable");
  const bool is_trained = trainable && (!flag.is_boolean() || flag.boolean());
  const bool is_row = network.find("inputs") == nullptr;
  const Json* input = network.find("input");
  Json begun = Json::array();
  std::vector<Json> result;
  for (const Json& each : network.at("layers").values()) {
    const size_t at = result.size();
    const auto& all = summary_of_layer.values();
    const Json& name = each.at("config").at("name");
    auto found = std::ranges::find_if(all, [&](const Json& one) {
      return name.is_string() && one.at("name").string() == name.string();
    });
    if (found == all.end()) found = all.begin() + static_cast<ptrdiff_t>(std::min(at, all.size()));
    Json made = layer(each, found == all.end() ? Json() : *found, is_trained);
    const Json& declared = each.at("config").at("inputShape");
    const Json& shape = input_shape.is_array() ? input_shape : declared;
    if (is_row && at == 0 && !is_model(each) && shape.is_array()) {
      if (input != nullptr) begun.add(input_layer(*input, shape, network));
      made = keras_layer(made.at("class_name").string(),
                         assigned(made.at("config"), input_config(shape, network)));
    }
    result.push_back(std::move(made));
  }
  if (!is_row) return keras_layer("Model", graph_config(network, result));
  Json config = Json::object();
  config.add("name", network.at("name"));
  for (Json& each : result) begun.add(std::move(each));
  config.add("layers", std::move(begun));
  return keras_layer("Sequential", std::move(config));
}

Json TopologyWriter::layer(const Json& layer, const Json& summary_of_layer, bool trainable) {
  if (is_model(layer))
    return model(layer.at("config"), summary_of_layer.at("layers"), Json(), trainable);
  const Json plain = plain_layer(layer);
  const std::string& class_name = plain.at("class_name").string();
  const Json& flag = plain.at("config").at("trainable");
  Json extra = Json::object();
  // TensorFlow.js does not infer a -1 where the sizes are static.
  if (class_name == "Reshape" && !summary_of_layer.is_null()) {
    Json shape = Json::array();
    const auto& sizes = summary_of_layer.at("outputShape").values();
    for (size_t i = 1; i < sizes.size(); ++i) {
      shape.add(sizes[i].is_null() ? Json::number(-1) : sizes[i]);
    }
    extra.add("target_shape", std::move(shape));
  }
  extra.add("trainable", Json::boolean(trainable && (!flag.is_boolean() || flag.boolean())));
  // The summary does not list models within options, whose layers have their names.
  if (!summary_of_layer.is_null()) extra.add("name", summary_of_layer.at("name"));
  return keras_layer(class_name, assigned(plain.at("config"), extra));
}

Json TopologyWriter::plain_layer(const Json& layer) {
  std::string class_name = layer.at("class").string();
  const Json& options = layer.at("config");
  const std::string& name = options.at("name").string();
  if (class_name == "Lambda") {
    add_problem(concat("layer \"", name,
                       "\" is a function, which cannot be saved; make it a class that "
                       "extends tl.layers.Layer"));
  }
  if (layer.at("isCustom").boolean()) {
    add_problem(concat("layer \"", name, "\" (", class_name,
                       ") cannot be saved: it is no layer of the package"));
  }
  // An activation with parameters is a separate class.
  const Json& activation = options.at("activation");
  const nn::Row* row = class_name == "Activation" && activation.is_object()
                           ? find_row(nn::activations(), activation.at("name").string())
                           : nullptr;
  const auto theirs = row == nullptr ? std::nullopt : keras_name(KerasTable::Activation, row->name);
  if (!theirs) return keras_layer(class_name, config(options, layer.find("host") != nullptr));
  Json plain = Json::object(), parameters = Json::object();
  for (size_t i = 0; i < options.keys().size(); ++i) {
    if (options.keys()[i] != "activation") plain.add(options.keys()[i], options.values()[i]);
  }
  for (size_t i = 0; i < activation.keys().size(); ++i) {
    if (activation.keys()[i] != "name") {
      parameters.add(activation.keys()[i], activation.values()[i]);
    }
  }
  return keras_layer(std::string(*theirs), config(assigned(plain, parameters), false));
}

// Options in the words of Keras; of a layer in JavaScript what is no name of a table stays.
Json TopologyWriter::config(const Json& options, bool verbatim_strings) {
  Json result = Json::object();
  for (size_t i = 0; i < options.keys().size(); ++i) {
    const std::string& name = options.keys()[i];
    const Json& option = options.values()[i];
    std::string theirs = to_snake_case(name);
    if (name == "inputShape" || result.find(theirs) != nullptr) continue;
    const bool stays = verbatim_strings && option.is_string() && !table_of(name);
    result.add(std::move(theirs), stays ? option : value(name, option));
  }
  return result;
}

Json TopologyWriter::value(const std::string& name, const Json& setting) {
  if (name == "name" || setting.is_null()) return setting;
  if (const auto rows = table_of(name)) return choice(*rows, setting);
  if (is_layer(setting)) {
    return is_model(setting) ? model(setting.at("config"), Json(), Json(), true)
                             : plain_layer(setting);
  }
  if (setting.is_array()) {
    Json all = Json::array();
    for (const Json& each : setting.values()) all.add(value(name, each));
    return all;
  }
  return setting.is_string() ? Json::string(to_snake_case(setting.string())) : setting;
}

Json TopologyWriter::choice(RowTable rows, const Json& setting) {
  std::string name = setting.is_object() ? setting.at("name").string() : setting.string();
  if (const nn::Row* row = find_row(rows, name)) name = row->name;
  Json parameters = Json::object();
  for (size_t i = 0; i < setting.keys().size(); ++i) {
    if (setting.keys()[i] != "name") parameters.add(setting.keys()[i], setting.values()[i]);
  }
  Json settings = config(parameters, false);
  if (is_activation_table(rows)) {
    name = to_snake_case(name);
    if (settings.keys().empty()) return Json::string(std::move(name));
  } else if (const auto theirs = keras_name(KerasTable::Regularizer, name)) {
    name = *theirs;
  } else if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') {
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  }
  return keras_layer(std::move(name), std::move(settings));
}

}  // namespace

Result<Json> write_topology(const Json& network, const Json& summary) {
  TopologyWriter writer;
  Json json = writer.model(network, summary.at("layers"), summary.at("inputShape"), true);
  LATHE_TRY(writer.status);
  json.add("keras_version", Json::string("tensorlathe"));
  json.add("backend", Json::string("tensor_flow.js"));
  return json;
}

}  // namespace lathe::models
