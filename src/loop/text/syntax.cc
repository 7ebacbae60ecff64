#include "lathe/loop/text/syntax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "lathe/base/text.h"

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
  const auto found = std::find(kRoles.begin(), kRoles.end(), text);
  if (found == kRoles.end()) return std::nullopt;
  return static_cast<BufferRole>(found - kRoles.begin());
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

void append_float(std::string& out, const Number& number) {
  const uint64_t bits = number.bits();
  if (std::isnan(number.as_double()) && !number.same_bits(usual_nan(number.dtype))) {
    out += "nan:x";
    const int size = 8 * scalar::size_of(number.dtype);
    for (int shift = size - 4; shift >= 0; shift -= 4) out += kHex[bits >> shift & 15];
    return;
  }
  const size_t start = out.size();
  number.dtype == DType::F64 ? append(out, number.d) : append(out, number.f);
  const bool finite = std::isfinite(number.as_double());
  if (finite && out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

}  // namespace

Number usual_nan(DType dtype) {
  return scalar::cast(Number::of(std::bit_cast<float>(0x7fc00000)), dtype);
}

void append_number(std::string& out, const Number& number) {
  switch (scalar::kind_of(number.dtype)) {
    case scalar::DTypeKind::Truth:
      out += number.i != 0 ? "true" : "false";
      return;
    case scalar::DTypeKind::Signed:
      append(out, number.i);
      break;
    case scalar::DTypeKind::Unsigned:
      append(out, static_cast<uint64_t>(number.i));
      break;
    case scalar::DTypeKind::Float:
      append_float(out, number);
      break;
  }
  const bool plain = number.dtype == DType::I32 || number.dtype == DType::F32;
  if (!plain) append(out, ':', scalar::text(number.dtype));
}

}  // namespace lathe::loop
