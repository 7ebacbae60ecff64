// Names of types and features.
#include "lathe/wasm/types.h"

#include <array>

namespace lathe::wasm {

bool is_val_type(uint8_t code) {
  return (code >= 0x7b && code <= 0x7f) || code == 0x70 || code == 0x6f;
}

bool is_reference(ValType type) { return type == ValType::funcref || type == ValType::externref; }

std::string_view name(ValType type) {
  switch (type) {
    case ValType::i32:
      return "i32";
    case ValType::i64:
      return "i64";
    case ValType::f32:
      return "f32";
    case ValType::f64:
      return "f64";
    case ValType::v128:
      return "v128";
    case ValType::funcref:
      return "funcref";
    case ValType::externref:
      return "externref";
  }
  return "any";  // the unknown operand of unreachable code
}

std::string bracketed_types(std::span<const ValType> types) {
  std::string text = "[";
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) text += ' ';
    text += name(types[i]);
  }
  return text + ']';
}

std::span<const ValType> single_type(ValType type) {
  static constexpr std::array kTypes = {ValType::i32,      ValType::i64,  ValType::f32,
                                        ValType::f64,      ValType::v128, ValType::funcref,
                                        ValType::externref};
  for (const ValType& candidate : kTypes) {
    if (candidate == type) return {&candidate, 1};
  }
  return {};
}

std::string_view name(ExternalKind kind) {
  switch (kind) {
    case ExternalKind::function:
      return "func";
    case ExternalKind::table:
      return "table";
    case ExternalKind::memory:
      return "memory";
    case ExternalKind::global:
      return "global";
  }
  return "";
}

std::string_view name(Feature feature) {
  switch (feature) {
#define LATHE_WASM_FEATURE(name_, text_) \
  case Feature::name_:                   \
    return text_;
#include "lathe/wasm/features.def"
  }
  return "";
}

std::span<const Feature> all_features() {
  static constexpr std::array kFeatures = {
#define LATHE_WASM_FEATURE(name_, text_) Feature::name_,
#include "lathe/wasm/features.def"
  };
  return kFeatures;
}

}  // namespace lathe::wasm
