#include "lathe/network/json_reader.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "lathe/base/text.h"
#include "lathe/network/host_layer.h"
#include "lathe/nn/random.h"

namespace lathe::network {
namespace {

constexpr size_t kMaxLength = 1 << 20;
constexpr int kMaxDepth = 32;
constexpr double kMaxExact = 9007199254740992;  // 2^53

// The value as printed in errors.
std::string printed(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::Null:
      return "null";
    case Json::Kind::Boolean:
      return json.boolean() ? "true" : "false";
    case Json::Kind::Number:
      return concat(json.number());
    case Json::Kind::String:
      return json_string(std::string_view(json.string()).substr(0, 60));
    case Json::Kind::Array:
      return "an array";
    case Json::Kind::Object:
      break;
  }
  return "an object";
}

// The integer in [low, high] that json is, or nothing. 128 and 128.0 are the same.
std::optional<double> integer_in(const Json& json, double low, double high) {
  if (!json.is_number()) return std::nullopt;
  const double number = json.number();
  if (!(number >= low && number <= high) || number != std::floor(number)) return std::nullopt;
  return number;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (text.size() > kMaxLength) {
    return fail(concat("JSON text of ", text.size(), " bytes; the limit is ", kMaxLength));
  }
  return Json::parse(text, kMaxDepth);
}

ObjectReader::ObjectReader(const Json& json, std::string path)
    : json_(json), path_(std::move(path)) {
  if (!json_.is_object()) {
    message_ = concat(path_, path_.empty() ? "the JSON text" : ":", " must be an object, got ",
                      printed(json_));
  }
}

std::string ObjectReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : concat(path_, '.', key);
}

const Json* ObjectReader::find(std::string_view key) {
  if (std::ranges::find(declared_, key) == declared_.end()) declared_.push_back(key);
  if (!message_.empty()) return nullptr;
  return json_.find(key);
}

const Json* ObjectReader::require(std::string_view key) {
  const Json* json = find(key);
  if (json == nullptr && message_.empty()) message_ = concat(path_of(key), ": is missing");
  return json;
}

void ObjectReader::set_error(std::string_view key, std::string_view expected, const Json& got) {
  message_ = concat(path_of(key), ": must be ", expected, ", got ", printed(got));
}

void ObjectReader::operator()(std::string_view key, int64_t& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  if (const auto number = integer_in(*json, 1, INT32_MAX)) {
    value = static_cast<int64_t>(*number);
  } else {
    set_error(key, "a positive integer", *json);
  }
}

void ObjectReader::operator()(std::string_view key, int32_t& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  if (const auto number = integer_in(*json, INT32_MIN, INT32_MAX)) {
    value = static_cast<int32_t>(*number);
  } else {
    set_error(key, "an integer", *json);
  }
}

void ObjectReader::operator()(std::string_view key, uint64_t& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  if (const auto number = integer_in(*json, 0, kMaxExact)) {
    value = static_cast<uint64_t>(*number);
  } else {
    set_error(key, "an integer from 0 to 2^53", *json);
  }
}

void ObjectReader::operator()(std::string_view key, bool& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  if (!json->is_boolean()) return set_error(key, "true or false", *json);
  value = json->boolean();
}

void ObjectReader::operator()(std::string_view key, std::string& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  if (!json->is_string()) return set_error(key, "a string", *json);
  value = json->string();
}

void ObjectReader::operator()(std::string_view key, std::vector<std::string>& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  if (!json->is_array() || !std::ranges::all_of(json->values(), &Json::is_string)) {
    return set_error(key, "an array of strings", *json);
  }
  for (const Json& each : json->values()) value.push_back(each.string());
}

void ObjectReader::operator()(std::string_view key, graph::Shape& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  graph::Shape shape;
  if (json->is_array()) {
    for (const Json& each : json->values()) {
      const auto size = integer_in(each, 1, INT32_MAX);
      if (!size) return set_error(key, "an array of positive integers", each);
      shape.push_back(static_cast<int64_t>(*size));
    }
  }
  if (shape.empty()) return set_error(key, "an array of positive integers", *json);
  value = std::move(shape);
}

void ObjectReader::number(std::string_view key, double& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  if (!json->is_number()) return set_error(key, "a number", *json);
  value = json->number();
}

void ObjectReader::integers(std::string_view key, std::vector<int64_t>& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  const std::span all = json->is_array() ? std::span(json->values()) : std::span(json, 1);
  for (const Json& each : all) {
    const auto number = integer_in(each, INT32_MIN, INT32_MAX);
    if (!number) return set_error(key, "an integer or an array of integers", each);
    value.push_back(static_cast<int64_t>(*number));
  }
}

void ObjectReader::pairs(std::string_view key, std::vector<std::pair<int64_t, int64_t>>& value) {
  const Json* json = find(key);
  if (json == nullptr) return;
  constexpr std::string_view kExpected = "an array of pairs of integers";
  if (!json->is_array()) return set_error(key, kExpected, *json);
  for (const Json& each : json->values()) {
    if (!each.is_array() || each.values().size() != 2) return set_error(key, kExpected, each);
    const auto first = integer_in(each.values()[0], INT32_MIN, INT32_MAX);
    const auto second = integer_in(each.values()[1], INT32_MIN, INT32_MAX);
    if (!first || !second)
      return set_error(key, kExpected, first ? each.values()[1] : each.values()[0]);
    value.emplace_back(static_cast<int64_t>(*first), static_cast<int64_t>(*second));
  }
}

void ObjectReader::operator()(std::string_view key, double& value) { number(key, value); }

void ObjectReader::operator()(std::string_view key, nn::Sizes& value) {
  const Json* json = find(key);
  if (json == nullptr || json->is_null()) return;
  nn::Sizes sizes;
  const auto read = [&](const Json& each) {
    const auto size = each.is_null() ? -1 : integer_in(each, INT32_MIN, INT32_MAX);
    if (size) sizes.values.push_back(static_cast<int64_t>(*size));
    return size.has_value();
  };
  bool sound = json->is_array() || read(*json);
  for (size_t i = 0; json->is_array() && i < json->values().size(); ++i) {
    const Json& each = json->values()[i];
    sound = sound && (each.is_array() ? std::ranges::all_of(each.values(), read) : read(each));
  }
  if (!sound || sizes.empty()) return set_error(key, "an integer or an array of integers", *json);
  value = std::move(sizes);
}

void ObjectReader::operator()(std::string_view key, nn::Seed& value) {
  const Json* json = find(key);
  if (json == nullptr || json->is_null()) return;
  if (!json->is_number()) return set_error(key, "a number", *json);
  value.value = nn::seed_of(json->number());
}

void ObjectReader::operator()(std::string_view key, nn::Choice& value) {
  const Json* json = find(key);
  if (json == nullptr || json->is_null()) return;
  if (json->is_string()) {
    value = nn::Choice(json->string());
    return;
  }
  if (!json->is_object()) return set_error(key, "a name or an object with a name", *json);
  nn::Choice choice;
  int32_t host = 0;
  for (size_t i = 0; i < json->keys().size(); ++i) {
    const std::string& name = json->keys()[i];
    const Json& each = json->values()[i];
    if (name == "name" && each.is_string()) {
      choice.name = each.string();
    } else if (name == "host" && integer_in(each, 1, INT32_MAX)) {
      host = static_cast<int32_t>(each.number());
    } else if (name != "name" && each.is_string()) {
      choice.parameters.emplace_back(name, each.string());
    } else if (name != "name" && (each.is_number() || each.is_boolean())) {
      choice.parameters.emplace_back(name, each.is_boolean() ? each.boolean() : each.number());
    } else if (name != "name" && each.is_null()) {
      continue;
    } else {
      const std::string inner = concat(key, '.', name);
      return set_error(inner, name == "name" ? "a string" : "a number, a word, true or false",
                       each);
    }
  }
  if (choice.name.empty() && host == 0) {
    message_ = concat(path_of(key), ".name: is missing");
    return;
  }
  if (host != 0) choice.custom = host_loss(choice.name, host);
  value = std::move(choice);
}

void ObjectReader::operator()(std::string_view key, nn::WeightOptions& value) {
  (*this)(composed_keys_.emplace_back(concat(key, "Initializer")), value.initializer);
  (*this)(composed_keys_.emplace_back(concat(key, "Regularizer")), value.regularizer);
  (*this)(composed_keys_.emplace_back(concat(key, "Constraint")), value.constraint);
}

Status ObjectReader::status() const { return message_.empty() ? Status() : fail(message_); }

Status ObjectReader::finish() const {
  LATHE_TRY(status());
  for (const std::string& key : json_.keys()) {
    if (std::ranges::find(declared_, key) == declared_.end()) {
      return fail(
          concat(path_, path_.empty() ? "" : ": ", nn::unknown_name("key", key, declared_)));
    }
  }
  return {};
}

}  // namespace lathe::network
