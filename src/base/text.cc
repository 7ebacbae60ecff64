#include "base/text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace lathe {

void append_value(std::string& out, std::string_view text) { out += text; }
void append_value(std::string& out, char c) { out += c; }

void append_value(std::string& out, uint64_t number) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0) out += digits[--count];
}

void append_value(std::string& out, int64_t number) {
  if (number < 0) out += '-';
  append_value(out, number < 0 ? uint64_t{0} - static_cast<uint64_t>(number)
                               : static_cast<uint64_t>(number));
}

namespace {

template <class T>
void append_float(std::string& out, T number, int most_digits, T (*parse)(const char*, char**)) {
  if (std::isnan(number)) {
    out += "nan";
    return;
  }
  if (std::isinf(number)) {
    out += number < 0 ? "-inf" : "inf";
    return;
  }
  char text[40];
  for (int digits = 6;; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(number));
    if (digits >= most_digits || parse(text, nullptr) == number) break;
  }
  out += text;
}

}  // namespace

void append_value(std::string& out, float number) { append_float(out, number, 9, std::strtof); }
void append_value(std::string& out, double number) { append_float(out, number, 17, std::strtod); }

void append_json(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      append(out, '\\', c);
    } else if (code < 0x20) {
      append(out, "\\u00", kHex[code >> 4], kHex[code & 15]);
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace lathe
