#include "lathe/base/json_writer.h"

namespace lathe {

void JsonWriter::separate() {
  // No value ends in one of these: strings end in quotes.
  if (!json_.empty() && std::string_view("{[:").find(json_.back()) == std::string_view::npos) {
    json_ += ',';
  }
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json(json_, name);
  json_ += ':';
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  json_ += json;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  json_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  json_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  append_json(json_, text);
  return *this;
}

}  // namespace lathe
