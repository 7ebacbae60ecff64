#include "lathe/models/read_topology.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "lathe/base/text.h"
#include "lathe/models/keras_names.h"

namespace lathe::models {
namespace {

std::string quoted(std::string_view text) { return json_string(text); }

std::string quoted(const Json* json) { return json == nullptr ? "nothing" : shortened(*json); }

const Json* find(const Json* json, std::string_view key) {
  return json == nullptr ? nullptr : json->find(key);
}

// As in JavaScript null counts as missing.
const Json* find_set(const Json* json, std::string_view key) {
  const Json* found = find(json, key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool is_string_value(const Json* json) { return json != nullptr && json->is_string(); }
bool is_array(const Json* json) { return json != nullptr && json->is_array(); }
bool is_object(const Json* json) { return json != nullptr && json->is_object(); }

// A layer in a topology.
struct KerasLayer {
  std::string class_name;
  const Json* config = nullptr;
  const Json* name = nullptr;
  const Json* inbound_nodes = nullptr;
  // In a Sequential only the input shape of the first layer counts.
  bool uses_declared_shape = true;
  const Json* inferred_shape = nullptr;

  bool is_input() const { return class_name == "InputLayer"; }
  bool is_model() const { return is_model_class(class_name); }
  const Json* batch_shape() const {
    const Json* shape = find_set(config, "batch_input_shape");
    return shape != nullptr ? shape : find_set(config, "batch_shape");
  }
  std::string called() const {
    const Json* called = name != nullptr ? name : find(config, "name");
    return called == nullptr     ? "undefined"
           : called->is_string() ? called->string()
                                 : called->dump();
  }
};

struct Reference {
  std::string producer;
  double call = 0, output = 0;
};

Json reference_json(const Reference& reference) {
  return Json::array({Json::string(reference.producer), Json::number(reference.call),
                      Json::number(reference.output)});
}

using Calls = std::vector<std::vector<Reference>>;

class TopologyReader {
 public:
  // TensorFlow.js converts the strings in options of custom classes; this package does not.
  TopologyReader(std::span<const std::string> custom_classes, bool verbatim_strings)
      : custom_classes_(custom_classes), verbatim_strings_(verbatim_strings) {}

  Json model(const Json* class_name, const Json* config);

  std::vector<std::string> left_out, problems;

 private:
  // Records a problem and returns null.
  Json wrong(std::string problem) {
    problems.push_back(std::move(problem));
    return {};
  }

  KerasLayer checked(const Json& layer);
  Json row(const std::string& name, std::vector<KerasLayer> layers, const Json* config);
  Json graph(const std::string& name, const std::vector<KerasLayer>& layers, const Json& config);
  Json graph_inputs(const std::vector<KerasLayer>& layers, const Json& config);
  Calls calls_of(const KerasLayer& layer);
  std::vector<Reference> references(const Json* value, const std::string& where);
  std::optional<Reference> reference(const Json& value, const std::string& where);
  void arguments(const Json& value, const std::string& where, std::vector<Reference>& found);
  bool named_arguments(const Json& named, const std::string& where, std::vector<Reference>& found);
  Json layer(const KerasLayer& layer);
  // As one of our classes.
  Json renamed(KerasLayer layer, const KerasClass& keras_class, const std::string& where);
  Json config_of(const KerasLayer& layer, const std::vector<LayerOption>& options,
                 const std::string& where);
  Json custom_config(const KerasLayer& layer, const std::string& where);
  Json value_of(const std::string& name, const Json& value, const std::string& where);
  Json choice(const std::string& name, RowTable rows, const Json& value, const std::string& where);
  Json sizes(const Json* shape, const std::string& where);

  std::span<const std::string> custom_classes_;
  bool verbatim_strings_;
};

Json TopologyReader::model(const Json* class_name, const Json* config) {
  if (!is_string_value(class_name) || !is_model_class(class_name->string())) {
    return wrong(concat("models of class ", quoted(class_name), " cannot be loaded"));
  }
  const Json* listed = is_object(config) ? config->find("layers") : config;
  if (!is_array(listed)) return wrong("the topology has no layers");
  std::vector<KerasLayer> layers;
  for (const Json& each : listed->values()) layers.push_back(checked(each));
  const Json* named = is_object(config) ? config->find("name") : nullptr;
  const bool is_row = class_name->string() == "Sequential";
  const std::string name = is_string_value(named) ? named->string()
                           : is_row               ? "sequential"
                                                  : "model";
  if (!is_row && !is_object(config)) return wrong("a graph of layers without its outputs");
  Json network = is_row ? row(name, layers, config) : graph(name, layers, *config);
  for (const KerasLayer& each : layers) {
    const Json* shape = each.batch_shape();
    if (!is_array(shape) || shape->values().empty() || !shape->values()[0].is_count()) continue;
    network.add("batchSize", shape->values()[0]);
    break;
  }
  return network;
}

KerasLayer TopologyReader::checked(const Json& layer) {
  const Json* class_name = layer.find("class_name");
  const Json* config = layer.find("config");
  KerasLayer read;
  if (is_string_value(class_name)) read.class_name = class_name->string();
  const bool has_config =
      is_object(config) || (read.is_model() && config != nullptr && !config->is_null());
  if (!is_string_value(class_name) || !has_config) {
    problems.push_back("a layer of the topology has no class_name or no config");
  }
  read.config = config;
  read.name = find_set(&layer, "name");
  read.inbound_nodes = layer.find("inbound_nodes");
  return read;
}

// An InputLayer becomes the input shape of the layer after it, and the name of the input; shapes of
// later ones, which may be wrong, are ignored.
Json TopologyReader::row(const std::string& name, std::vector<KerasLayer> layers,
                         const Json* config) {
  const auto input = std::ranges::find_if(layers, &KerasLayer::is_input);
  const bool has_input = input != layers.end();
  // Keras stores the shape of the first call.
  const Json* first_shape =
      has_input ? input->batch_shape() : find_set(config, "build_input_shape");
  Json made = Json::array();
  for (KerasLayer& each : layers) {
    if (each.is_input()) continue;
    const bool is_first = made.values().empty();
    if (!is_first && !each.is_model()) each.uses_declared_shape = false;
    if (is_first &&
        (has_input ? find_set(each.config, "batch_input_shape") : each.batch_shape()) == nullptr) {
      each.inferred_shape = first_shape;
    }
    made.add(layer(each));
  }
  Json network = Json::object();
  network.add("name", Json::string(name));
  if (has_input && input->called() != "undefined") {
    network.add("input", Json::string(input->called()));
  }
  network.add("layers", std::move(made));
  return network;
}

Json TopologyReader::graph(const std::string& name, const std::vector<KerasLayer>& layers,
                           const Json& config) {
  std::map<std::string, Calls> calls;
  for (const KerasLayer& each : layers) calls[each.called()] = calls_of(each);
  std::vector<Reference> results = references(config.find("output_layers"), "output_layers");
  // For a nested model its construction counts as the first call.
  std::map<std::string, bool> early;
  for (const KerasLayer& each : layers) {
    if (each.is_model()) early[each.called()] = true;
  }
  const auto note = [&early](const Reference& each) {
    if (const auto at = early.find(each.producer); at != early.end() && each.call == 0) {
      at->second = false;
    }
  };
  std::ranges::for_each(results, note);
  for (const auto& [producer, lists] : calls) {
    for (const auto& list : lists) std::ranges::for_each(list, note);
  }
  // References name the entry of the topology, whose layer may have another name.
  std::map<std::string, std::string> layer_names;
  for (const KerasLayer& each : layers) {
    const Json* layer_name = find(each.config, "name");
    if (!each.is_input() && is_string_value(layer_name))
      layer_names[each.called()] = layer_name->string();
  }
  const auto references_json = [&early, &layer_names](const std::vector<Reference>& list) {
    Json all = Json::array();
    for (Reference each : list) {
      const auto at = early.find(each.producer);
      if (at != early.end() && at->second) each.call -= 1;
      if (const auto at_name = layer_names.find(each.producer); at_name != layer_names.end()) {
        each.producer = at_name->second;
      }
      all.add(reference_json(each));
    }
    return all;
  };
  Json made = Json::array();
  for (const KerasLayer& each : layers) {
    if (each.is_input()) continue;
    Json one = layer(each);
    Json inputs = Json::array();
    for (const auto& list : calls[each.called()]) inputs.add(references_json(list));
    if (one.is_object()) one.add("inputs", std::move(inputs));
    made.add(std::move(one));
  }
  Json network = Json::object();
  network.add("name", Json::string(name));
  network.add("inputs", graph_inputs(layers, config));
  network.add("layers", std::move(made));
  network.add("outputs", references_json(results));
  return network;
}

Json TopologyReader::graph_inputs(const std::vector<KerasLayer>& layers, const Json& config) {
  Json inputs = Json::array();
  for (const Reference& each : references(config.find("input_layers"), "input_layers")) {
    const auto found = std::ranges::find_if(layers, [&](const KerasLayer& one) {
      return one.is_input() && one.called() == each.producer;
    });
    const Json* shape = found == layers.end() ? nullptr : found->batch_shape();
    const std::string where = concat("input ", quoted(each.producer));
    if (!is_array(shape)) return wrong(concat("the ", where, " has no shape"));
    Json input = Json::object();
    input.add("name", Json::string(each.producer));
    input.add("shape", sizes(shape, where));
    inputs.add(std::move(input));
  }
  return inputs;
}

// What each call of a layer reads.
Calls TopologyReader::calls_of(const KerasLayer& layer) {
  const std::string where = concat("the inbound_nodes of layer ", quoted(layer.called()));
  if (layer.inbound_nodes == nullptr) return {};
  if (!layer.inbound_nodes->is_array()) {
    wrong(concat(where, " must be an array"));
    return {};
  }
  Calls calls;
  for (const Json& node : layer.inbound_nodes->values()) {
    const Json* args = node.find("args");
    if (args == nullptr) {
      calls.push_back(references(&node, where));
      continue;
    }
    arguments(*args, where, calls.emplace_back());
    named_arguments(node.at("kwargs"), where, calls.back());
  }
  return calls;
}

// Keras 3 writes the arguments of a call: tensors, {class_name: "__keras_tensor__", config:
// {keras_history: [name, call, output]}}, and lists of them.
void TopologyReader::arguments(const Json& value, const std::string& where,
                               std::vector<Reference>& found) {
  if (value.is_null()) return;
  if (value.is_array()) {
    for (const Json& each : value.values()) arguments(each, where, found);
    return;
  }
  const Json* history = find(find(&value, "config"), "keras_history");
  if (history == nullptr) {
    wrong(concat(where, ": the argument ", shortened(value), " is no tensor"));
  } else if (auto read = reference(*history, where)) {
    found.push_back(std::move(*read));
  }
}

// Tensors come in the order of the layer's inputs. False and an error: another argument that is
// set.
bool TopologyReader::named_arguments(const Json& named, const std::string& where,
                                     std::vector<Reference>& found) {
  constexpr std::string_view kInputs[] = {"query", "inputs", "sequence",
                                          "value", "key",    "initial_state"};
  for (const std::string_view input : kInputs) {
    const Json* value = find_set(&named, input);
    if (value == nullptr) continue;
    if (is_array(value) && !value->values().empty() && value->values()[0].is_string()) {
      std::ranges::move(references(value, where), std::back_inserter(found));
    } else {
      arguments(*value, where, found);
    }
  }
  for (size_t i = 0; i < named.keys().size(); ++i) {
    const Json& setting = named.values()[i];
    const bool is_off = setting.is_null() || (setting.is_boolean() && !setting.boolean());
    if (is_off || std::ranges::find(kInputs, named.keys()[i]) != std::end(kInputs)) continue;
    wrong(concat(where, ": a call with ", named.keys()[i], " = ", shortened(setting),
                 " is not supported"));
    return false;
  }
  return true;
}

// One reference, or an array of them.
std::vector<Reference> TopologyReader::references(const Json* value, const std::string& where) {
  if (!is_array(value)) {
    // Models with named inputs have an object of them.
    std::vector<Reference> all;
    if (is_object(value) && find(value, "class_name") == nullptr) {
      for (const Json& each : value->values()) {
        std::ranges::move(references(&each, where), std::back_inserter(all));
      }
      return all;
    }
    wrong(concat(where, " must be an array of [name, call, output]"));
    return {};
  }
  const bool is_one = !value->values().empty() && value->values()[0].is_string();
  const std::span<const Json> listed = is_one ? std::span(value, 1) : std::span(value->values());
  std::vector<Reference> all;
  for (const Json& each : listed) {
    auto read = reference(each, where);
    if (!read) continue;
    all.push_back(std::move(*read));
    const auto& parts = each.values();
    if (parts.size() > 3 && parts[3].is_object() && !named_arguments(parts[3], where, all)) {
      all.pop_back();
    }
  }
  return all;
}

std::optional<Reference> TopologyReader::reference(const Json& value, const std::string& where) {
  const auto& parts = value.values();
  const auto count = [&](size_t at) {
    return value.is_array() && parts.size() > at ? parts[at] : Json::number(0);
  };
  const bool is_sound = value.is_array() && !parts.empty() && parts[0].is_string() &&
                        count(1).is_count() && count(2).is_count();
  if (!is_sound) {
    wrong(concat(where, ": ", shortened(value), " must be [name, call, output]"));
    return std::nullopt;
  }
  return Reference{parts[0].string(), count(1).number(), count(2).number()};
}

Json TopologyReader::layer(const KerasLayer& layer) {
  Json made = Json::object();
  if (layer.is_model()) {
    const Json class_name = Json::string(layer.class_name);
    const bool is_row = layer.class_name == "Sequential";
    made.add("class", Json::string(is_row ? layer.class_name : "Model"));
    made.add("config", model(&class_name, layer.config));
    return made;
  }
  const std::string where =
      concat("layer ", quoted(find(layer.config, "name")), " (", layer.class_name, ")");
  const std::vector<LayerOption>* options = options_of_class(layer.class_name);
  const bool is_custom =
      options == nullptr &&
      std::ranges::find(custom_classes_, layer.class_name) != custom_classes_.end();
  const KerasClass* keras_class =
      options != nullptr || is_custom ? nullptr : find_keras_class(layer.class_name);
  if (keras_class != nullptr) return renamed(layer, *keras_class, where);
  if (options == nullptr && !is_custom) return wrong(concat(where, " is of an unknown class"));
  made.add("class", Json::string(layer.class_name));
  made.add("config", is_custom ? custom_config(layer, where) : config_of(layer, *options, where));
  return made;
}

Json TopologyReader::renamed(KerasLayer layer, const KerasClass& keras_class,
                             const std::string& where) {
  Json reduced = Json::object(), made = Json::object();
  if (keras_class.is_left_out) {
    for (const char* key : {"name", "batch_input_shape", "batch_shape"}) {
      if (const Json* value = find_set(layer.config, key)) reduced.add(key, *value);
    }
    layer.config = &reduced;
    left_out.push_back(where);
  }
  Json config = config_of(layer, *options_of_class(keras_class.ours), where);
  const auto options = Json::parse(keras_class.options);
  for (size_t i = 0; options && i < options->keys().size(); ++i) {
    if (config.find(options->keys()[i]) != nullptr) continue;
    config.add(options->keys()[i], options->values()[i]);
  }
  made.add("class", Json::string(std::string(keras_class.ours)));
  made.add("config", std::move(config));
  return made;
}

// Every option, under the name it has in JavaScript.
Json TopologyReader::custom_config(const KerasLayer& layer, const std::string& where) {
  Json config = Json::object();
  if (layer.inferred_shape != nullptr) config.add("inputShape", sizes(layer.inferred_shape, where));
  for (size_t i = 0; is_object(layer.config) && i < layer.config->keys().size(); ++i) {
    const std::string& key = layer.config->keys()[i];
    const Json& value = layer.config->values()[i];
    if (!layer.uses_declared_shape && (key == "batch_input_shape" || key == "batch_shape"))
      continue;
    std::string name = to_camel_case(key);
    const bool is_shape = name == "batchInputShape";
    if (is_shape) name = "inputShape";
    const bool stays =
        value.is_null() || (verbatim_strings_ && value.is_string() && !table_of(name));
    if (config.find(name) != nullptr) {
      wrong(concat(where, " has the option ", name, " twice"));
    } else if (is_shape) {
      config.add(std::move(name), sizes(&value, where));
    } else {
      config.add(name, stays ? value : value_of(name, value, where));
    }
  }
  return config;
}

Json TopologyReader::config_of(const KerasLayer& layer, const std::vector<LayerOption>& options,
                               const std::string& where) {
  Json config = Json::object();
  const auto set = [&](const std::string& name, Json value) {
    if (config.find(name) == nullptr) {
      config.add(name, std::move(value));
    } else {
      wrong(concat(where, " has the option ", name, " twice"));
    }
  };
  // TensorFlow.js repeats the options of a cell next to the cell.
  const Json* of_cell = find(find(layer.config, "cell"), "config");
  if (layer.inferred_shape != nullptr) set("inputShape", sizes(layer.inferred_shape, where));
  for (size_t i = 0; is_object(layer.config) && i < layer.config->keys().size(); ++i) {
    const std::string& key = layer.config->keys()[i];
    const Json& value = layer.config->values()[i];
    const bool is_slope = layer.class_name == "LeakyReLU" && key == "negative_slope";
    const std::string name = is_slope ? "alpha" : to_camel_case(key);
    const bool is_shape = name == "batchInputShape" || key == "batch_shape";
    if (value.is_null() || (is_shape && !layer.uses_declared_shape)) continue;
    const auto option = std::ranges::find(options, name, &LayerOption::name);
    if (name == "batchInputShape" && option == options.end()) {
      set("inputShape", sizes(&value, where));
    } else if (option != options.end()) {
      const bool is_bit =
          option->is_flag && value.is_number() && (value.number() == 0 || value.number() == 1);
      set(name, is_bit ? Json::boolean(value.number() == 1) : value_of(name, value, where));
    } else if (find(of_cell, key) != nullptr) {
      continue;
    } else if (name.ends_with("Regularizer") || name.ends_with("Constraint")) {
      left_out.push_back(concat(key, " of ", where));
    } else if (!is_neutral(name, value)) {
      wrong(concat(where, " has the option ", key, " = ", shortened(value),
                   ", which is not supported"));
    }
  }
  return config;
}

// A shape without its batch.
Json TopologyReader::sizes(const Json* shape, const std::string& where) {
  if (!is_array(shape)) return wrong(concat(where, ": ", quoted(shape), " is no shape"));
  Json all = Json::array();
  for (size_t i = 1; i < shape->values().size(); ++i) {
    const Json& size = shape->values()[i];
    if (!size.is_null() && !size.is_number()) {
      return wrong(
          concat(where, ": sizes must be numbers or null, but the shape is ", shortened(*shape)));
    }
    all.add(size);
  }
  return all;
}

Json TopologyReader::value_of(const std::string& name, const Json& value,
                              const std::string& where) {
  if (const auto rows = table_of(name)) return choice(name, *rows, value, where);
  // Keras once wrote numbers of NumPy so.
  const Json* number = find(&value, "value");
  if (is_string_value(find(&value, "type")) && value.at("type").string() == "ndarray" &&
      number != nullptr && number->is_number()) {
    return *number;
  }
  if (value.is_object() && value.find("class_name") != nullptr) return layer(checked(value));
  if (value.is_array() && std::ranges::any_of(value.values(), &Json::is_object)) {
    Json all = Json::array();
    for (const Json& each : value.values()) all.add(value_of(name, each, where));
    return all;
  }
  if (name == "axis" && value.is_array() && value.values().size() == 1) return value.values()[0];
  return value.is_string() && name != "name" ? Json::string(to_camel_case(value.string())) : value;
}

// "relu" or {class_name, config}.
Json TopologyReader::choice(const std::string& name, RowTable rows, const Json& value,
                            const std::string& where) {
  const Json* chosen_name = value.is_object() ? value.find("class_name") : &value;
  // Keras 3 writes {class_name: "function", config: "relu"}.
  if (is_string_value(chosen_name) && chosen_name->string() == "function")
    chosen_name = value.find("config");
  const nn::Row* row =
      is_string_value(chosen_name) ? find_row(rows, chosen_name->string()) : nullptr;
  if (row == nullptr) {
    std::string names;
    for (const nn::Row& each : rows) append(names, names.empty() ? "" : ", ", each.name);
    return wrong(
        concat(where, ": ", name, ' ', quoted(chosen_name), " is not supported; known: ", names));
  }
  Json chosen = Json::object();
  chosen.add("name", Json::string(std::string(row->name)));
  const Json* config = value.is_object() ? value.find("config") : nullptr;
  for (size_t i = 0; is_object(config) && i < config->keys().size(); ++i) {
    const std::string key = to_camel_case(config->keys()[i]);
    const Json& each = config->values()[i];
    const auto parameters = row->parameters();
    const bool is_parameter =
        std::ranges::find(parameters, key, &nn::Parameter::name) != parameters.end();
    if (each.is_null() || !is_parameter || chosen.find(key) != nullptr) continue;
    chosen.add(key, each.is_string() ? Json::string(to_camel_case(each.string())) : each);
  }
  return chosen.keys().size() == 1 ? Json::string(std::string(row->name)) : chosen;
}

}  // namespace

ReadTopology analyze_topology(const Json& topology, std::span<const std::string> custom_classes) {
  const Json* inner = topology.find("model_config");
  const Json& model = is_object(inner) ? *inner : topology;
  const Json* version = topology.find("keras_version");
  TopologyReader reader(custom_classes,
                        is_string_value(version) && version->string() == "tensorlathe");
  ReadTopology read;
  if (model.is_object()) {
    read.network = reader.model(model.find("class_name"), model.find("config"));
  } else {
    reader.problems.push_back("the topology must be an object");
  }
  read.left_out = std::move(reader.left_out);
  read.problems = std::move(reader.problems);
  return read;
}

Result<ReadTopology> read_topology(const Json& topology,
                                   std::span<const std::string> custom_classes) {
  ReadTopology read = analyze_topology(topology, custom_classes);
  if (!read.problems.empty()) return fail(read.problems[0]);
  return read;
}

}  // namespace lathe::models
