// Conversions between the element types of ONNX: of values, of bits, to text and back.
#include <charconv>
#include <cmath>
#include <limits>

#include "lathe/base/decimal.h"
#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/operators/narrow_floats.h"
#include "lathe/import/onnx/strings/strings.h"
#include "lathe/import/onnx/trace/operators.h"

namespace lathe::onnx::rows {

namespace {

// An element in the notation of ONNX Runtime.
std::string printed(const Content& content, int64_t index) {
  const DType dtype = dtype_of(content.type);
  if (dtype == DType::U64) return concat(static_cast<uint64_t>(content.integer(index)));
  if (!scalar::is_float(dtype)) return concat(content.integer(index));
  const double value = content.number(index);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  return dtype == DType::F64 ? concat(value) : concat(static_cast<float>(value));
}

std::string lower(std::string_view text) {
  std::string result;
  for (const char c : text) result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// Parses the longest numeric prefix, as ONNX Runtime does; rejects hexadecimal numbers.
Result<double> read_number(const Call& call, const std::string& string) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string text = lower(string);
  const bool is_less = text.starts_with('-');
  const std::string_view bare = std::string_view(text).substr(is_less || text.starts_with('+'));
  if (bare.starts_with("nan")) return std::numeric_limits<double>::quiet_NaN();
  if (bare.starts_with("inf")) return is_less ? -kInfinity : kInfinity;
  const char* end = nullptr;
  const double number = parse_decimal(text.c_str(), &end, 53);
  if (end == text.c_str() || bare.starts_with("0x")) {
    return call.reject(concat("'", string, "' is no number"));
  }
  return number;
}

// Parses an integer prefix.
Result<int64_t> read_integer(const Call& call, const std::string& string, bool is_signed) {
  const bool is_less = string.starts_with('-');
  uint64_t size = 0;
  const char* const begin = string.c_str() + (is_less || string.starts_with('+'));
  const auto [end, error] = std::from_chars(begin, string.c_str() + string.size(), size);
  const auto value = static_cast<int64_t>(is_less ? -size : size);
  if (error != std::errc() || (is_signed && (value < 0) != (is_less && size > 0))) {
    return call.reject(concat("'", string, "' is no number"));
  }
  return value;
}

Result<Values> from_strings(Call& call, Type to) {
  LATHE_ASSIGN_OR_RETURN(Content content, call.content(0));
  if (to == Type::String) return Values{content};
  for (std::string& each : content.strings) {
    for (std::string& bare : split_at_space(each, 0)) each = std::move(bare);
  }
  const DType dtype = dtype_of(to);
  if (!scalar::is_float(dtype)) {
    std::vector<int64_t> values;
    for (const std::string& each : content.strings) {
      LATHE_ASSIGN_OR_RETURN(const int64_t value,
                             read_integer(call, each, scalar::is_signed(dtype)));
      values.push_back(value);
    }
    return Values{integers_content(to, content.shape, values)};
  }
  std::vector<double> values;
  for (const std::string& each : content.strings) {
    LATHE_ASSIGN_OR_RETURN(const double number, read_number(call, each));
    values.push_back(number);
  }
  return Values{numbers_content(to, content.shape, values)};
}

Result<Values> to_strings(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Content content, call.content(0));
  std::vector<std::string> strings;
  for (int64_t k = 0; k < content.count(); ++k) strings.push_back(printed(content, k));
  return Values{strings_content(content.shape, std::move(strings))};
}

Result<Values> cast_as(Call& call, Type to) {
  const Type from = call.type(0);
  if (from == Type::String) return from_strings(call, to);
  if (to == Type::String) return to_strings(call);
  const std::string round = call.string_of("round_mode", "up");
  if (round != "up" && round != "down" && round != "nearest") {
    return call.reject(concat("there is no round_mode '", round, '\''));
  }
  const NarrowingOptions how{call.int_of("saturate", 1) != 0, round};
  return Values{Value(converted(call.tensor(0), from, to, how), to)};
}

// Numbers of the bits of x, read as another type of as many.
Tensor reread(Tensor x, DType to) {
  const DType from = x.dtype();
  const auto is = [](DType dtype, DType a, DType b) { return dtype == a || dtype == b; };
  if (is(from, DType::F32, DType::F64)) x = map(Op::ToBits, x);
  if (!is(to, DType::F32, DType::F64)) return cast_to(x, to);
  return map(Op::FromBits, cast_to(x, to == DType::F32 ? DType::I32 : DType::I64));
}

}  // namespace

Result<Values> cast_value(Call& call) {
  const int64_t number = call.int_of("to", 0);
  const auto to = type_of(number);
  if (!to) return call.reject(concat("there is no element type ", number));
  return cast_as(call, *to);
}

Result<Values> cast_value_like(Call& call) {
  if (!call.operand(1).is_tensor()) return call.reject("input 1 must be a tensor");
  return cast_as(call, call.type(1));
}

// The same bits as another type of equal width. float16 and bfloat16 go through their storage type.
Result<Values> bit_cast(Call& call) {
  const int64_t number = call.int_of("to", 0);
  const auto to = type_of(number);
  const Type from = call.type(0);
  if (!to || bits_of(*to) != bits_of(from) || bits_of(from) == 0) {
    return call.reject(
        concat("cannot read the bits of ", text(from), " as ", to ? text(*to) : "no type"));
  }
  const DType from_dtype = dtype_of(from), to_dtype = dtype_of(*to);
  const bool is_numbered = bits_of(from) >= 8;
  if (!is_numbered) return Values{Value(converted(call.tensor(0), from, *to), *to)};
  const bool needs_bytes = scalar::is_half(from_dtype) || scalar::is_half(to_dtype);
  if (needs_bytes && from_dtype != to_dtype) {
    LATHE_ASSIGN_OR_RETURN(Content content, call.content(0));
    content.type = *to;
    return Values{content};
  }
  return Values{Value(reread(call.tensor(0), to_dtype), *to)};
}

}  // namespace lathe::onnx::rows
