#include "lathe/models/null_axes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lathe/base/text.h"
#include "lathe/network/network_json.h"

namespace lathe::models {
namespace {

const Json* model_of(const Json& layer) {
  const Json* class_name = layer.find("class");
  const bool is_model = class_name != nullptr &&
                        (class_name->string() == "Model" || class_name->string() == "Sequential");
  const Json* config = layer.find("config");
  return is_model && config != nullptr && config->is_object() ? config : nullptr;
}

// Of one example, in the order of the inputs; those of a Sequential are those of its first layer.
std::vector<Json> input_shapes(const Json& network) {
  std::vector<Json> shapes;
  if (const Json* inputs = network.find("inputs")) {
    for (const Json& input : inputs->values()) {
      if (const Json* shape = input.find("shape")) shapes.push_back(*shape);
    }
    return shapes;
  }
  const Json* layers = network.find("layers");
  if (layers == nullptr || layers->values().empty()) return {};
  const Json& first = layers->values()[0];
  if (const Json* inner = model_of(first)) return input_shapes(*inner);
  const Json* config = first.find("config");
  const Json* shape = config == nullptr ? nullptr : config->find("inputShape");
  if (shape != nullptr && shape->is_array()) shapes.push_back(*shape);
  return shapes;
}

bool is_open(const Json& shape) { return std::ranges::any_of(shape.values(), &Json::is_null); }

// The object with another value for a key, or without it.
Json with(const Json& object, std::string_view key, const Json* value) {
  Json result = Json::object();
  for (size_t i = 0; i < object.keys().size(); ++i) {
    if (object.keys()[i] != key) result.add(object.keys()[i], object.values()[i]);
  }
  if (value != nullptr) result.add(std::string(key), *value);
  return result;
}

Json with(const Json& object, std::string_view key, const Json& value) {
  return with(object, key, &value);
}

// The shapes that the first call of a layer reads, of a network with the layers before it.
Result<std::vector<Json>> shapes_before(const Json& network, const Json& layer) {
  Json before = network;
  const Json* calls = layer.find("inputs");
  if (calls != nullptr && !calls->values().empty()) {
    before = with(before, "outputs", calls->values()[0]);
  }
  LATHE_ASSIGN_OR_RETURN(const nn::Model model, network::parse_model(before.dump()));
  std::vector<Json> shapes;
  for (const nn::Port& output : model.outputs()) {
    Json& shape = shapes.emplace_back(Json::array());
    for (const int64_t size : model.shape(output.value)) {
      shape.add(Json::number(static_cast<double>(size)));
    }
  }
  return shapes;
}

Result<Json> fixed(const Json& network, const std::vector<Json>& shapes);

// One layer after those of `before`.
Result<Json> fixed_layer(const Json& layer, const Json& before, const std::vector<Json>& shapes) {
  const bool is_first = before.find("inputs") == nullptr && before.find("layers")->values().empty();
  const Json* config = layer.find("config");
  if (const Json* inner = model_of(layer)) {
    std::vector<Json> inner_shapes = input_shapes(*inner);
    if (is_first) {
      inner_shapes = shapes;
    } else if (std::ranges::any_of(inner_shapes, is_open)) {
      LATHE_ASSIGN_OR_RETURN(inner_shapes, shapes_before(before, layer));
    }
    LATHE_ASSIGN_OR_RETURN(const Json made, fixed(*inner, inner_shapes));
    return with(layer, "config", made);
  }
  if (config == nullptr) return layer;
  if (is_first && !shapes.empty()) {
    return with(layer, "config", with(*config, "inputShape", shapes[0]));
  }
  // An input shape with null axes is dropped where there is a layer before.
  const Json* shape = config->find("inputShape");
  if (shape == nullptr || !is_open(*shape)) return layer;
  return with(layer, "config", with(*config, "inputShape", nullptr));
}

Result<Json> fixed(const Json& network, const std::vector<Json>& shapes) {
  Json result = with(network, "layers", Json::array());
  if (const Json* inputs = network.find("inputs")) {
    Json bound = Json::array();
    for (size_t i = 0; i < inputs->values().size(); ++i) {
      const Json& input = inputs->values()[i];
      bound.add(i < shapes.size() ? with(input, "shape", shapes[i]) : input);
    }
    result = with(result, "inputs", bound);
  }
  const Json* layers = network.find("layers");
  Json made = Json::array();
  for (size_t i = 0; layers != nullptr && i < layers->values().size(); ++i) {
    LATHE_ASSIGN_OR_RETURN(Json layer, fixed_layer(layers->values()[i], result, shapes));
    made.add(std::move(layer));
    result = with(result, "layers", made);
  }
  return result;
}

}  // namespace

size_t count_null_axes(const Json& network) {
  size_t count = 0;
  for (const Json& shape : input_shapes(network)) {
    count += static_cast<size_t>(std::ranges::count_if(shape.values(), &Json::is_null));
  }
  return count;
}

Result<Json> bind_null_axes(const Json& network, std::span<const int64_t> sizes) {
  std::vector<Json> shapes = input_shapes(network);
  std::string listed;
  for (const Json& shape : shapes) {
    append(listed, listed.empty() ? "" : " and ", shape.dump());
  }
  const size_t expected = count_null_axes(network);
  if (sizes.size() != expected) {
    return fail(concat("the inputs ", listed, " have ", expected,
                       " axes of any size (null), so they need ", expected, " sizes, got ",
                       sizes.size()));
  }
  if (expected == 0) return network;
  size_t at = 0;
  for (Json& shape : shapes) {
    Json bound = Json::array();
    for (const Json& size : shape.values()) {
      bound.add(size.is_null() ? Json::number(static_cast<double>(sizes[at++])) : size);
    }
    shape = std::move(bound);
  }
  return fixed(network, shapes);
}

}  // namespace lathe::models
