#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/api/error.h"
#include "lathe/api/formats/lathe_formats.h"
#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/formats/weight_data.h"
#include "lathe/models/keras_tensors.h"
#include "lathe/models/match_tensors.h"
#include "lathe/models/read_topology.h"
#include "lathe/models/training_config.h"
#include "lathe/models/write_topology.h"

namespace lathe::api {
namespace {

using models::NamedShape;

Json number(size_t value) { return Json::number(static_cast<double>(value)); }

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> strings;
  for (const Json& each : list.values()) strings.push_back(each.string());
  return strings;
}

Result<Json> read_topology(const Json& request) {
  auto found = models::read_topology(request.at("topology"), strings_of(request.at("classes")));
  if (!found && found.error().message.ends_with("is of an unknown class")) {
    std::string classes;
    for (const auto& each : nn::layer_classes()) append(classes, classes.empty() ? "" : ", ", each);
    return fail(concat(
        found.error().message,
        "; tl.serialization.registerClass registers custom classes; built-in ones: ", classes));
  }
  LATHE_ASSIGN_OR_RETURN(models::ReadTopology read, std::move(found));
  Json left_out = Json::array(), answer = Json::object();
  for (std::string& each : read.left_out) left_out.add(Json::string(std::move(each)));
  answer.add("network", std::move(read.network));
  answer.add("leftOut", std::move(left_out));
  return answer;
}

Result<Json> write_topology(const Json& request) {
  return models::write_topology(request.at("network"), request.at("summary"));
}

Result<Json> read_specs(const Json& request) {
  LATHE_ASSIGN_OR_RETURN(const auto specs, formats::read_specs(request.at("specs")));
  const auto bytes = static_cast<uint64_t>(request.at("bytes").number());
  LATHE_TRY(formats::check_length(specs, bytes));
  Json answer = Json::array();
  for (const auto& each : specs) answer.add(Json::number(static_cast<double>(each.stored_bytes())));
  return answer;
}

std::vector<NamedShape> named_shapes(const Json& list) {
  std::vector<NamedShape> tensors;
  for (const Json& each : list.values()) {
    NamedShape& tensor = tensors.emplace_back(NamedShape{each.at("name").string(), {}});
    for (const Json& size : each.at("shape").values()) {
      tensor.shape.push_back(static_cast<int64_t>(size.number()));
    }
  }
  return tensors;
}

Json matches_json(std::span<const models::Match> matches) {
  Json all = Json::array();
  for (const auto [state, tensor] : matches) {
    all.add(Json::array({number(state), number(tensor)}));
  }
  return all;
}

Result<Json> match_weights(const Json& request) {
  const Json& summary = request.at("summary");
  LATHE_ASSIGN_OR_RETURN(
      const auto matches,
      models::match_weights(models::saved_names(summary), named_shapes(summary.at("weights")),
                            named_shapes(request.at("tensors")), request.at("strict").boolean()));
  return matches_json(matches);
}

Result<Json> match_optimizer(const Json& request) {
  const Json& config = request.at("optimizer");
  nn::Choice optimizer(config.at("name").string());
  for (size_t i = 0; i < config.keys().size(); ++i) {
    const Json& value = config.values()[i];
    if (value.is_number()) optimizer.parameters.emplace_back(config.keys()[i], value.number());
  }
  const Json& summary = request.at("summary");
  LATHE_ASSIGN_OR_RETURN(
      const auto matches,
      models::match_optimizer(models::saved_names(summary), optimizer,
                              named_shapes(summary.at("weights")),
                              named_shapes(request.at("states")),
                              named_shapes(request.at("tensors")), request.at("steps").number()));
  Json numbers = Json::array(), answer = Json::object();
  for (const auto& [state, value] : matches.numbers) {
    numbers.add(Json::array({number(state), Json::number(value)}));
  }
  answer.add("tensors", matches_json(matches.tensors));
  answer.add("numbers", std::move(numbers));
  return answer;
}

Result<Json> saved_tensors(const Json& request) {
  const auto names = models::saved_names(request.at("summary"));
  const auto weights = named_shapes(request.at("summary").at("weights"));
  Json saved = Json::array(), gathered = Json::array(), answer = Json::object();
  for (const NamedShape& each : weights) saved.add(Json::string(names.at(each.name)));
  const auto states = named_shapes(request.at("states"));
  for (const auto& each : models::optimizer_tensors(names, weights, states)) {
    Json shape = Json::array(), tensor = Json::object();
    for (const int64_t size : each.tensor.shape) shape.add(Json::number(static_cast<double>(size)));
    tensor.add("name", Json::string(each.tensor.name));
    tensor.add("shape", std::move(shape));
    tensor.add("state", each.state ? number(*each.state) : Json());
    tensor.add("isSteps", Json::boolean(each.is_steps));
    gathered.add(std::move(tensor));
  }
  answer.add("weights", std::move(saved));
  answer.add("optimizer", std::move(gathered));
  return answer;
}

Result<Json> keras_tensors(const Json& request) {
  std::vector<std::string> weights;
  Json names = Json::array(), slots = Json::array(), answer = Json::object();
  for (const Json& layer : request.at("layers").values()) {
    for (std::string& name :
         models::keras_weights(layer.at("name").string(), strings_of(layer.at("weights")))) {
      names.add(Json::string(name));
      weights.push_back(std::move(name));
    }
  }
  const auto optimizer =
      models::keras_optimizer(strings_of(request.at("optimizer")), weights, request.at("training"));
  for (const auto& each : optimizer.slots) {
    Json slot = Json::object();
    slot.add("path", number(each.path));
    slot.add("name", Json::string(each.name));
    slot.add("divisor", each.divisor ? Json::number(*each.divisor) : Json());
    slots.add(std::move(slot));
  }
  answer.add("weights", std::move(names));
  answer.add("steps", optimizer.steps ? number(*optimizer.steps) : Json());
  answer.add("slots", std::move(slots));
  return answer;
}

// Null and the reason for lathe_error() where it fails.
const char* answer(Result<Json> (*action)(const Json&), const char* text, size_t length) {
  static std::string printed;
  const auto request = Json::parse({text, length});
  const auto result = request ? action(*request) : std::unexpected(request.error());
  if (!result) {
    last_error() = result.error().message;
    return nullptr;
  }
  printed = result->dump();
  return printed.c_str();
}

Result<graph::Array> decoded(std::string_view text, std::span<const std::byte> data) {
  LATHE_ASSIGN_OR_RETURN(Json spec, Json::parse(text));
  LATHE_ASSIGN_OR_RETURN(auto specs, formats::read_specs(Json::array({std::move(spec)})));
  specs[0].shape = {1};
  const uint64_t each = specs[0].stored_bytes();
  specs[0].shape = {static_cast<int64_t>(data.size() / each)};
  LATHE_ASSIGN_OR_RETURN(auto tensors, formats::decode_weights(specs, data));
  return std::move(tensors[0].array);
}

Result<std::string> encoded(std::string_view text, std::span<const float> values) {
  static std::vector<std::byte> stored;
  LATHE_ASSIGN_OR_RETURN(const Json request, Json::parse(text));
  const auto bits = formats::bits_called(request.at("bits").string());
  if (!bits) return fail("bits must be float16, uint16 or uint8");
  const auto& ends = request.at("range").values();
  const bool has_range = ends.size() == 2;
  const formats::ValueRange range = has_range
                                        ? formats::ValueRange{ends[0].number(), ends[1].number()}
                                        : formats::range_of(values);
  if (!has_range && std::isfinite(range.minimum) && std::isfinite(range.maximum)) {
    return concat("[", range.minimum, ",", range.maximum, "]");
  }
  stored.clear();
  LATHE_ASSIGN_OR_RETURN(
      const std::string quantization,
      formats::append_stored(request.at("name").string(), values, range, *bits, stored));
  JsonWriter json;
  json.begin_object().key("quantization").raw(quantization);
  json.member("at", reinterpret_cast<uintptr_t>(stored.data()));
  return json.member("bytes", stored.size()).end_object().release();
}

}  // namespace
}  // namespace lathe::api

using namespace lathe;

const char* lathe_read_topology(const char* json, size_t length) {
  return api::answer(api::read_topology, json, length);
}

const char* lathe_write_topology(const char* json, size_t length) {
  return api::answer(api::write_topology, json, length);
}

const char* lathe_read_training(const char* json, size_t length) {
  return api::answer(models::read_training, json, length);
}

const char* lathe_write_training(const char* json, size_t length) {
  return api::answer(models::write_training, json, length);
}

const char* lathe_read_specs(const char* json, size_t length) {
  return api::answer(api::read_specs, json, length);
}

const void* lathe_decode_elements(const char* json, size_t length, const void* data, size_t bytes) {
  static graph::Array elements;
  auto read = api::decoded({json, length}, {static_cast<const std::byte*>(data), bytes});
  if (!read) {
    api::last_error() = read.error().message;
    return nullptr;
  }
  elements = std::move(*read);
  return elements.data.data();
}

const char* lathe_encode_elements(const char* json, size_t length, const void* data, size_t bytes) {
  static std::string printed;
  auto result =
      api::encoded({json, length}, {static_cast<const float*>(data), bytes / sizeof(float)});
  if (!result) {
    api::last_error() = result.error().message;
    return nullptr;
  }
  printed = std::move(*result);
  return printed.c_str();
}

const char* lathe_match_weights(const char* json, size_t length) {
  return api::answer(api::match_weights, json, length);
}

const char* lathe_match_optimizer(const char* json, size_t length) {
  return api::answer(api::match_optimizer, json, length);
}

const char* lathe_saved_tensors(const char* json, size_t length) {
  return api::answer(api::saved_tensors, json, length);
}

const char* lathe_keras_tensors(const char* json, size_t length) {
  return api::answer(api::keras_tensors, json, length);
}
