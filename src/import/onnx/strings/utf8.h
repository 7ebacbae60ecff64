// Strings as Unicode code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::onnx {

// Invalid UTF-8 is decoded byte by byte.
std::vector<char32_t> code_points(std::string_view text);
void append_utf8(std::string& text, char32_t point);

// Of letters of Latin, Greek and Cyrillic script; others are unchanged.
char32_t lower_case(char32_t point);
char32_t upper_case(char32_t point);

}  // namespace lathe::onnx
