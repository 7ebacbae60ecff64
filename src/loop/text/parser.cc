#include "lathe/loop/text/parser.h"

#include <cerrno>
#include <cstdlib>

#include "lathe/base/text.h"
#include "lathe/loop/text/syntax.h"

namespace lathe::loop {

Status TokenReader::advance() {
  previous_line_ = token_.line;
  LATHE_ASSIGN_OR_RETURN(token_, next_token(text_, at_, line_));
  return {};
}

Result<bool> TokenReader::accept(std::string_view text) {
  if (!sees(text)) return false;
  LATHE_TRY(advance());
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

std::unexpected<Error> TokenReader::error_at_previous(std::string_view message) const {
  return fail(concat("line ", previous_line_, ": ", message));
}

Result<std::string> TokenReader::name() {
  if (token_.kind == TokenKind::Quoted) return quoted();
  if (token_.kind != TokenKind::Name) return error("expected a name");
  std::string name(token_.text);
  LATHE_TRY(advance());
  return name;
}

Result<std::string> TokenReader::quoted() {
  if (token_.kind != TokenKind::Quoted) return error("expected a string");
  LATHE_ASSIGN_OR_RETURN(std::string text, unquote(token_));
  LATHE_TRY(advance());
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
  LATHE_TRY(advance());
  return value;
}

Result<Number> TokenReader::number() {
  if (sees("true") || sees("false")) {
    const Number value = Number::of(sees("true"));
    LATHE_TRY(advance());
    return value;
  }
  LATHE_ASSIGN_OR_RETURN(const bool negative, accept("-"));
  const std::string digits(token_.text);
  const TokenKind kind = token_.kind;
  const bool is_number =
      kind == TokenKind::Integer || kind == TokenKind::Float || digits == "inf" || digits == "nan";
  if (!is_number) return error("expected a number");
  LATHE_TRY(advance());
  std::string nan_bits;
  LATHE_ASSIGN_OR_RETURN(bool has_type, accept(":"));
  if (has_type && digits == "nan" && token_.text.starts_with('x')) {
    nan_bits = token_.text.substr(1);
    LATHE_TRY(advance());
    LATHE_ASSIGN_OR_RETURN(has_type, accept(":"));
  }
  DType dtype = kind == TokenKind::Integer ? DType::I32 : DType::F32;
  if (has_type) {
    const auto named = scalar::dtype_of(token_.text);
    const bool fits = named && *named != DType::Bool &&
                      (kind == TokenKind::Integer) == scalar::is_integer(*named);
    if (!fits) return error("expected the type of a number");
    dtype = *named;
    LATHE_TRY(advance());
  }
  if (kind == TokenKind::Integer) return integer(digits, negative, dtype);
  return float_number(digits, nan_bits, negative, dtype);
}

Result<Number> TokenReader::integer(const std::string& digits, bool negative, DType dtype) const {
  const auto reject = [&] {
    return error_at_previous(concat(negative ? "-" : "", digits, " is no ", scalar::text(dtype)));
  };
  errno = 0;
  const uint64_t magnitude = std::strtoull(digits.c_str(), nullptr, 10);
  const auto value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  const bool fits_signed = negative ? value <= 0 && magnitude <= uint64_t{1} << 63 : value >= 0;
  const bool fits = scalar::is_signed(dtype) ? fits_signed : !negative || magnitude == 0;
  const Number number = Number::integer(dtype, value);
  if (errno != 0 || !fits || number.i != value) return reject();
  return number;
}

Result<Number> TokenReader::float_number(const std::string& digits, const std::string& nan_bits,
                                         bool negative, DType dtype) const {
  if (digits == "nan") {
    if (nan_bits.empty()) return usual_nan(dtype);
    char* end = nullptr;
    const uint64_t bits = std::strtoull(nan_bits.c_str(), &end, 16);
    const auto digit_count = static_cast<size_t>(2 * scalar::size_of(dtype));
    if (nan_bits.size() == digit_count && *end == 0) return Number::from_bits(dtype, bits);
    return error_at_previous(concat("expected the ", digit_count, " hex digits of a NaN"));
  }
  const double sign = negative ? -1 : 1;
  if (dtype == DType::F64) return Number::of(sign * std::strtod(digits.c_str(), nullptr));
  const float value = std::strtof(digits.c_str(), nullptr);
  return scalar::cast(Number::of(negative ? -value : value), dtype);
}

Result<Buffer> TokenReader::buffer() {
  Buffer buffer;
  LATHE_ASSIGN_OR_RETURN(buffer.name, name());
  LATHE_TRY(expect(":"));
  const auto dtype = scalar::dtype_of(token_.text);
  if (!dtype) return error("expected an element type");
  buffer.dtype = *dtype;
  LATHE_TRY(advance());
  LATHE_TRY(expect("["));
  LATHE_ASSIGN_OR_RETURN(buffer.size, count());
  LATHE_TRY(expect("]"));
  return buffer;
}

}  // namespace lathe::loop
