#include "lathe/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

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

// A positive number: d.ddd… × 10^exponent, either exact or rounded.
struct Decimal {
  std::string digits;
  int exponent;
};

// The decimal digits of m * factor^count. `parts` are its digits in base 10^9, least significant
// first.
std::string digits_of_product(uint64_t m, uint32_t factor, int count) {
  constexpr uint64_t kBase = 1'000'000'000;
  std::vector<uint32_t> parts;
  for (; m != 0; m /= kBase) parts.push_back(static_cast<uint32_t>(m % kBase));
  for (; count > 0; --count) {
    uint64_t carry = 0;
    for (uint32_t& part : parts) {
      carry += uint64_t{part} * factor;
      part = static_cast<uint32_t>(carry % kBase);
      carry /= kBase;
    }
    if (carry != 0) parts.push_back(static_cast<uint32_t>(carry));
  }
  std::string digits;
  for (size_t i = parts.size(); i-- > 0;) {
    const std::string part = concat(uint64_t{parts[i]});
    if (!digits.empty()) digits.append(9 - part.size(), '0');
    digits += part;
  }
  return digits;
}

// All digits of a number > 0. The number is m * 2^power; for a negative power that is
// m * 5^-power * 10^power, so that the digits are those of an integer in both cases.
Decimal decimal_of(double number) {
  int power = 0;
  auto m = static_cast<uint64_t>(std::ldexp(std::frexp(number, &power), 53));
  power -= 53;
  for (; power < 0 && m % 2 == 0; ++power) m /= 2;
  std::string digits = power < 0 ? digits_of_product(m, 5, -power) : digits_of_product(m, 2, power);
  const int exponent = static_cast<int>(digits.size()) - 1 + std::min(power, 0);
  return {std::move(digits), exponent};
}

// Rounds to `count` significant digits, ties to even, and removes trailing zeros.
Decimal rounded(Decimal decimal, size_t count) {
  std::string& digits = decimal.digits;
  if (digits.size() > count) {
    const std::string dropped = digits.substr(count);
    digits.resize(count);
    const std::string half = concat('5', std::string(dropped.size() - 1, '0'));
    if (dropped > half || (dropped == half && (digits.back() - '0') % 2 != 0)) {
      size_t at = count;
      while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
      if (at > 0) {
        ++digits[at - 1];
      } else {
        digits.insert(0, 1, '1');
        ++decimal.exponent;
      }
    }
  }
  digits.resize(digits.find_last_not_of('0') + 1);
  return decimal;
}

// Formats as printf("%.*g") does, whose code would be several times as large.
std::string formatted(Decimal decimal, int digits) {
  constexpr int kMinExponent = -4;
  decimal = rounded(std::move(decimal), static_cast<size_t>(digits));
  std::string text = std::move(decimal.digits);
  const int exponent = decimal.exponent;
  if (exponent < kMinExponent || exponent >= digits) {
    if (text.size() > 1) text.insert(1, 1, '.');
    const int magnitude = std::abs(exponent);
    return concat(text, exponent < 0 ? "e-" : "e+", magnitude < 10 ? "0" : "", magnitude);
  }
  if (exponent < 0) return concat("0.", std::string(static_cast<size_t>(-exponent - 1), '0'), text);
  const auto integer_digits = static_cast<size_t>(exponent) + 1;
  if (text.size() < integer_digits) text.append(integer_digits - text.size(), '0');
  if (text.size() > integer_digits) text.insert(integer_digits, 1, '.');
  return text;
}

template <class T>
void append_float(std::string& out, T number, int max_digits, T (*parse)(const char*, char**)) {
  if (std::isnan(number)) {
    out += "nan";
    return;
  }
  if (std::signbit(number)) out += '-';
  number = std::abs(number);
  if (std::isinf(number)) {
    out += "inf";
    return;
  }
  if (number == 0) {
    out += '0';
    return;
  }
  const Decimal decimal = decimal_of(static_cast<double>(number));
  std::string text;
  for (int digits = 6; digits <= max_digits; ++digits) {
    text = formatted(decimal, digits);
    if (parse(text.c_str(), nullptr) == number) break;
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

std::string json_string(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

}  // namespace lathe
