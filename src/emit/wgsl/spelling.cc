#include "emit/wgsl/spelling.h"

#include <cmath>
#include <limits>

#include "base/text.h"

namespace lathe::emit::wgsl {

namespace {

constexpr std::string_view kSpellings[] = {
#define WGSL(text_) text_
#define SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, spell_, \
                  wgsl_, wasm_)                                                                    \
  wgsl_,
#include "scalar/ops.def"
#undef WGSL
};

#define SPELL(...) #__VA_ARGS__
#define SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, spell_, \
                  ...)                                                                             \
  static_assert(!kSpellings[static_cast<size_t>(scalar::Op::name_)].empty() ||                     \
                    std::string_view(spell_) != "NONE",                                            \
                #name_ " lacks a text or a spelling");
#include "scalar/ops.def"
#undef SPELL

}  // namespace

bool lacks(scalar::Op op) { return kSpellings[static_cast<size_t>(op)].empty(); }

std::string spell(scalar::Op op, std::span<const std::string> operands) {
  const std::string_view spelling = kSpellings[static_cast<size_t>(op)];
  std::string out;
  for (size_t i = 0; i < spelling.size(); ++i) {
    if (spelling[i] == '{') {
      out += operands[static_cast<size_t>(spelling[i + 1] - '0')];
      i += 2;
    } else {
      out += spelling[i];
    }
  }
  return out;
}

std::string_view value_type(scalar::DType dtype) {
  switch (dtype) {
    case scalar::DType::Bool:
      return "bool";
    case scalar::DType::I32:
      return "i32";
    case scalar::DType::F32:
      return "f32";
  }
  return "";
}

std::string_view storage_type(scalar::DType dtype) {
  return dtype == scalar::DType::Bool ? "u32" : value_type(dtype);
}

bool has_literal(const scalar::Number& number) {
  if (number.dtype != scalar::DType::F32) return true;
  return std::isfinite(number.f) && !(number.f == 0 && std::signbit(number.f));
}

std::string literal(const scalar::Number& number) {
  switch (number.dtype) {
    case scalar::DType::Bool:
      return number.i != 0 ? "true" : "false";
    case scalar::DType::I32:
      if (number.i == std::numeric_limits<int32_t>::min()) return concat("i32(", number.i, ')');
      return number.i < 0 ? concat('(', number.i, "i)") : concat(number.i, 'i');
    case scalar::DType::F32:
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

}  // namespace lathe::emit::wgsl
