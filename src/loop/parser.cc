#include "loop/parser.h"

#include <bit>
#include <cstdlib>
#include <limits>

#include "base/text.h"

namespace lathe::loop {

Status TokenReader::advance() {
  line_behind_ = token_.line;
  ASSIGN_OR_RETURN(token_, next_token(text_, at_, line_));
  return {};
}

Result<bool> TokenReader::accept(std::string_view text) {
  if (!sees(text)) return false;
  TRY(advance());
  return true;
}

Status TokenReader::expect(std::string_view text) {
  if (!sees(text)) return error(concat("expected '", text, "'"));
  return advance();
}

std::unexpected<Error> TokenReader::error(std::string_view message) const {
  const std::string found = at_end() ? "the end" : concat('\'', token_.text.substr(0, 40), '\'');
  return fail(concat("line ", token_.line, ": ", message, " at ", found));
}

std::unexpected<Error> TokenReader::error_behind(std::string_view message) const {
  return fail(concat("line ", line_behind_, ": ", message));
}

Result<std::string> TokenReader::name() {
  if (token_.kind == TokenKind::Quoted) return quoted();
  if (token_.kind != TokenKind::Name) return error("expected a name");
  std::string name(token_.text);
  TRY(advance());
  return name;
}

Result<std::string> TokenReader::quoted() {
  if (token_.kind != TokenKind::Quoted) return error("expected a string");
  ASSIGN_OR_RETURN(std::string text, unquote(token_));
  TRY(advance());
  return text;
}

Result<int64_t> TokenReader::count() {
  constexpr int64_t kLargest = int64_t{1} << 48;
  if (token_.kind != TokenKind::Integer) return error("expected a number");
  int64_t value = 0;
  for (const char digit : token_.text) {
    value = value * 10 + (digit - '0');
    if (value > kLargest) return error("number too large");
  }
  TRY(advance());
  return value;
}

Result<Number> TokenReader::number() {
  if (sees("true") || sees("false")) {
    const Number value = Number::of(sees("true"));
    TRY(advance());
    return value;
  }
  ASSIGN_OR_RETURN(const bool negative, accept("-"));
  if (token_.kind != TokenKind::Integer) return float_number(negative);
  ASSIGN_OR_RETURN(const int64_t magnitude, count());
  const int64_t value = negative ? -magnitude : magnitude;
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    return error_behind(concat(value, " is no i32"));
  }
  return Number::of(static_cast<int32_t>(value));
}

Result<Number> TokenReader::float_number(bool negative) {
  float value = 0;
  if (token_.kind == TokenKind::Float) {
    value = std::strtof(std::string(token_.text).c_str(), nullptr);
  } else if (sees("inf")) {
    value = std::numeric_limits<float>::infinity();
  } else if (sees("nan")) {
    TRY(advance());
    ASSIGN_OR_RETURN(const bool has_bits, accept(":"));
    if (!has_bits) return Number::of(std::bit_cast<float>(0x7fc00000));
    if (!token_.text.starts_with('x')) return error("expected the bits of a NaN");
    const std::string bits(token_.text.substr(1));
    char* end = nullptr;
    const uint32_t pattern = static_cast<uint32_t>(std::strtoul(bits.c_str(), &end, 16));
    if (bits.size() != 8 || *end != 0) return error("expected the 8 hex digits of a NaN");
    TRY(advance());
    return Number::of(std::bit_cast<float>(pattern));
  } else {
    return error("expected a number");
  }
  TRY(advance());
  return Number::of(negative ? -value : value);
}

Result<Buffer> TokenReader::buffer() {
  Buffer buffer;
  ASSIGN_OR_RETURN(buffer.name, name());
  TRY(expect(":"));
  const auto dtype = scalar::dtype_of(token_.text);
  if (!dtype) return error("expected an element type");
  buffer.dtype = *dtype;
  TRY(advance());
  TRY(expect("["));
  ASSIGN_OR_RETURN(buffer.size, count());
  TRY(expect("]"));
  return buffer;
}

}  // namespace lathe::loop
