// Strings without iostreams or std::format (both are too large for the browser): append, concat,
// number formatting, characters.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace lathe {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
// ASCII only: other characters are returned unchanged.
inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

void append_value(std::string& out, std::string_view text);
void append_value(std::string& out, char c);
void append_value(std::string& out, int64_t number);
void append_value(std::string& out, uint64_t number);
// With the fewest significant digits, at least 6 and at most 9 (f32) or 17 (f64), that read back to
// the same number; inf, -inf, nan.
void append_value(std::string& out, float number);
void append_value(std::string& out, double number);
template <std::signed_integral T>
void append_value(std::string& out, T number) {
  append_value(out, static_cast<int64_t>(number));
}
template <std::unsigned_integral T>
requires(!std::same_as<T, bool> && !std::same_as<T, char>) void append_value(std::string& out,
                                                                             T number) {
  append_value(out, static_cast<uint64_t>(number));
}
inline void append_value(std::string& out, const char* text) {
  append_value(out, std::string_view(text));
}
inline void append_value(std::string& out, const std::string& text) {
  append_value(out, std::string_view(text));
}

// append(out, "f32", 3, ' ', 0.5f): appends every part, formatted.
template <class... Parts>
void append(std::string& out, const Parts&... parts) {
  (append_value(out, parts), ...);
}

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  append(out, parts...);
  return out;
}

// The text as a JSON string, quotes included.
void append_json(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

// "[64,784]" of {64, 784}.
template <class Range>
std::string bracketed(const Range& numbers) {
  std::string out = "[";
  for (bool first = true; const auto& number : numbers) {
    if (!first) out += ',';
    append_value(out, number);
    first = false;
  }
  return out + ']';
}

}  // namespace lathe
