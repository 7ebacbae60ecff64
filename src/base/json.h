// JSON (RFC 8259) as values, in a tenth of the code that a general library adds to what a page
// loads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"

namespace lathe {

class Json {
 public:
  enum class Kind { Null, Boolean, Number, String, Array, Object };

  // null.
  Json() = default;
  static Json boolean(bool value);
  static Json number(double value);
  static Json string(std::string value);
  static Json array(std::vector<Json> values = {});
  static Json object();

  // `text` must be one JSON value in UTF-8; arrays and objects nest up to `depth` deep.
  // Numbers are rounded to doubles. Errors name the byte: what is no JSON, duplicate keys of
  // one object, numbers beyond doubles.
  static Result<Json> parse(std::string_view text, int depth = 64);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::Null; }
  bool is_boolean() const { return kind_ == Kind::Boolean; }
  bool is_number() const { return kind_ == Kind::Number; }
  bool is_string() const { return kind_ == Kind::String; }
  bool is_array() const { return kind_ == Kind::Array; }
  bool is_object() const { return kind_ == Kind::Object; }
  // An integer from 0 to 2^53.
  bool is_count() const;

  // Each of its kind only; of others false, 0, "" and nothing.
  bool boolean() const { return number_ != 0; }
  double number() const { return number_; }
  const std::string& string() const { return text_; }
  // The values of an array, or those of an object in the order of its keys.
  const std::vector<Json>& values() const { return values_; }
  const std::vector<std::string>& keys() const { return keys_; }
  // The value of a key of an object, or null if it has no such key.
  const Json* find(std::string_view key) const;
  // The same, or the value null.
  const Json& at(std::string_view key) const;

  // The value as JSON, without spaces.
  std::string dump() const;

  // To an array.
  void add(Json value);
  // To an object, which must not have the key.
  void add(std::string key, Json value);

 private:
  explicit Json(Kind kind) : kind_(kind) {}

  Kind kind_ = Kind::Null;
  double number_ = 0;
  std::string text_;
  std::vector<Json> values_;
  std::vector<std::string> keys_;
};

}  // namespace lathe
