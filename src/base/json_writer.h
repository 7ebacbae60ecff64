// Appends JSON (RFC 8259) to a string, without spaces; commas are added where they belong.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lathe/base/text.h"

namespace lathe {

// Writes one value, or, without begin_object, a list of members. Every member has a key.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  // A boolean, a finite number, a string, or a range of them.
  template <class T>
  JsonWriter& value(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      return raw(value ? "true" : "false");
    } else if constexpr (std::is_arithmetic_v<T>) {
      separate();
      append_value(json_, value);
      return *this;
    } else if constexpr (std::convertible_to<T, std::string_view>) {
      return string(value);
    } else {
      begin_array();
      for (const auto& each : value) this->value(each);
      return end_array();
    }
  }
  template <class T>
  JsonWriter& member(std::string_view name, const T& value) {
    return key(name).value(value);
  }
  // What is JSON already: a value, or members.
  JsonWriter& raw(std::string_view json);

  const std::string& json() const { return json_; }
  // The JSON; the writer is empty afterwards.
  std::string release() { return std::exchange(json_, {}); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& string(std::string_view text);
  // Adds a comma after a value.
  void separate();

  std::string json_;
};

}  // namespace lathe
