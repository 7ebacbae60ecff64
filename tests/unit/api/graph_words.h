// Encodes graphs in the words of the C interface as other languages do: names become codes by the
// tables of lathe_describe.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "lathe/api/lathe.h"

namespace lathe::api_test {

using Words = std::vector<double>;

inline const nlohmann::json& tables() {
  static const nlohmann::json kTables = nlohmann::json::parse(lathe_describe());
  return kTables;
}

inline double index_in(std::string_view table, std::string_view name) {
  const nlohmann::json& rows = tables()[std::string(table)];
  for (size_t i = 0; i < rows.size(); ++i) {
    if ((rows[i].is_object() ? rows[i]["name"] : rows[i]) == name) return static_cast<double>(i);
  }
  return -1;
}

inline double tag(std::string_view name) { return index_in("tags", name); }

inline Words list(std::initializer_list<double> numbers) {
  Words words = {tag("list"), static_cast<double>(numbers.size())};
  for (const double number : numbers) words.insert(words.end(), {tag("number"), number});
  return words;
}

inline Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Words f32(std::initializer_list<double> shape) {
  return Words{index_in("dtypes", "f32")} + list(shape);
}

inline Words operation(std::string_view name, const Words& operands, const Words& values = {}) {
  return Words{index_in("operations", name), static_cast<double>(operands.size())} + operands +
         values;
}

inline const double* add(int32_t graph, const Words& words) {
  return lathe_graph_operation(graph, words.data(), words.size());
}

inline Words text(std::string_view text) {
  return Words{tag("text"), static_cast<double>(text.size())} + Words(text.begin(), text.end());
}

inline const double* input(int32_t graph, const Words& name, const Words& type) {
  const Words words = name + type;
  return lathe_graph_input(graph, words.data(), words.size());
}

// The number of the one value that a function answered, or 0.
inline int32_t number(const double* answer) {
  return answer == nullptr ? 0 : static_cast<int32_t>(*answer);
}

}  // namespace lathe::api_test
