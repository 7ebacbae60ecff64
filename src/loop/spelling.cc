#include "loop/spelling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace lathe::loop {

namespace {

constexpr std::array<std::string_view, 5> kRoles = {"input", "output", "state", "constant",
                                                    "temporary"};

constexpr std::array<std::string_view, 14> kReserved = {
    "for",   "if",  "let", "in",    "global",     "register",  "true",
    "false", "inf", "nan", "index", kBarrierWord, kSharedWord, kWhenWord};

constexpr char kHex[] = "0123456789abcdef";

}  // namespace

std::string_view text(BufferRole role) { return kRoles[static_cast<size_t>(role)]; }

std::optional<BufferRole> role_of(std::string_view text) {
  const auto place = std::find(kRoles.begin(), kRoles.end(), text);
  if (place == kRoles.end()) return std::nullopt;
  return static_cast<BufferRole>(place - kRoles.begin());
}

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '/';
}

void append_name(std::string& out, std::string_view name) {
  const bool bare = !name.empty() && starts_name(name[0]) &&
                    std::all_of(name.begin(), name.end(), continues_name) &&
                    std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end();
  if (bare) {
    out += name;
  } else {
    append_quoted(out, name);
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      append(out, '\\', c);
    } else if (byte < 0x20 || byte == 0x7f) {
      append(out, "\\x", kHex[byte >> 4], kHex[byte & 15]);
    } else {
      out += c;
    }
  }
  out += '"';
}

namespace {

void append_f32(std::string& out, float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value) && bits != 0x7fc00000) {
    out += "nan:x";
    for (int shift = 28; shift >= 0; shift -= 4) out += kHex[bits >> shift & 15];
    return;
  }
  const size_t start = out.size();
  append_value(out, value);
  if (std::isfinite(value) && out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

}  // namespace

void append_number(std::string& out, const Number& number) {
  switch (number.dtype) {
    case DType::Bool:
      out += number.i != 0 ? "true" : "false";
      return;
    case DType::I32:
      append(out, number.i);
      return;
    case DType::F32:
      append_f32(out, number.f);
      return;
  }
}

}  // namespace lathe::loop
