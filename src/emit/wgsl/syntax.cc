#include "lathe/emit/wgsl/syntax.h"

#include <cmath>
#include <limits>

#include "lathe/base/text.h"

namespace lathe::emit_wgsl {

namespace {

constexpr std::string_view kTemplates[] = {
#define WGSL(text_) text_
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, wgsl_, wasm_)                                                   \
  wgsl_,
#include "lathe/scalar/ops.def"
#undef WGSL
};

#define EXPAND(...) #__VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, ...)                                                            \
  static_assert(!kTemplates[static_cast<size_t>(scalar::Op::name_)].empty() ||                   \
                    std::string_view(expand_) != "NONE",                                         \
                #name_ " has neither a text nor an expansion");
#include "lathe/scalar/ops.def"
#undef EXPAND

}  // namespace

bool needs_expansion(scalar::Op op) { return kTemplates[static_cast<size_t>(op)].empty(); }

bool is_integer_division(scalar::Op op, scalar::DType dtype) {
  return op == scalar::Op::Div && scalar::is_integer(dtype);
}

std::string expression_of(scalar::Op op, scalar::DType dtype,
                          std::span<const std::string> operands) {
  if (is_integer_division(op, dtype)) {
    return concat("divide_", value_type(dtype), '(', operands[0], ", ", operands[1], ')');
  }
  if (op == scalar::Op::Neg && value_type(dtype) == "u32")
    return concat("(0u - ", operands[0], ')');
  const std::string_view pattern = kTemplates[static_cast<size_t>(op)];
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{') {
      out += operands[static_cast<size_t>(pattern[i + 1] - '0')];
      i += 2;
    } else {
      out += pattern[i];
    }
  }
  return out;
}

bool is_saturating(scalar::DType from, scalar::DType to) {
  return scalar::is_float(from) && scalar::is_integer(to);
}

std::string cast_of(std::string_view value, scalar::DType from, scalar::DType to) {
  const bool is_short = scalar::is_integer(to) && scalar::size_of(to) < 4;
  if (is_saturating(from, to)) {
    if (!is_short) return concat("to_", value_type(to), '(', value, ')');
    return concat("clamp(to_i32(", value, "), ", scalar::Number::lowest(to).i, ", ",
                  scalar::Number::highest(to).i, ')');
  }
  const bool fits = scalar::Number::lowest(from).i >= scalar::Number::lowest(to).i &&
                    scalar::Number::highest(from).i <= scalar::Number::highest(to).i;
  if (!is_short || fits) {
    return concat(value_type(to), '(', value, ')');
  }
  const int bits = 8 * scalar::size_of(to);
  if (!scalar::is_signed(to)) return concat("(i32(", value, ") & ", (1 << bits) - 1, ')');
  return concat("((i32(", value, ") << ", 32 - bits, "u) >> ", 32 - bits, "u)");
}

std::string_view value_type(scalar::DType dtype) {
  constexpr std::string_view kTypes[] = {
#define WGSL(type_) #type_
#define LATHE_DTYPE(name_, text_, type_, kind_, computed_, wasm_, wgsl_, ...) wgsl_,
#include "lathe/scalar/dtypes.def"
#undef WGSL
  };
  return kTypes[static_cast<size_t>(dtype)];
}

bool has_type(scalar::DType dtype) { return value_type(dtype) != "NONE"; }

std::string_view storage_type(scalar::DType dtype) {
  return dtype == scalar::DType::Bool ? "u32" : value_type(dtype);
}

bool has_literal(const scalar::Number& number) {
  if (!scalar::is_float(number.dtype)) return true;
  return std::isfinite(number.f) && !(number.f == 0 && std::signbit(number.f));
}

std::string literal(const scalar::Number& number) {
  switch (scalar::kind_of(number.dtype)) {
    case scalar::DTypeKind::Truth:
      return number.i != 0 ? "true" : "false";
    case scalar::DTypeKind::Signed:
    case scalar::DTypeKind::Unsigned:
      if (value_type(number.dtype) == "u32") return concat(number.i, 'u');
      if (number.i == std::numeric_limits<int32_t>::min()) return concat("i32(", number.i, ')');
      return number.i < 0 ? concat('(', number.i, "i)") : concat(number.i, 'i');
    case scalar::DTypeKind::Float:
      return std::signbit(number.f) ? concat('(', number.f, "f)") : concat(number.f, 'f');
  }
  return "";
}

std::string identifier(char kind, int32_t id, std::string_view name) {
  std::string out = concat(kind, id, '_');
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += plain ? c : '_';
  }
  return out;
}

}  // namespace lathe::emit_wgsl
