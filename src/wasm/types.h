// WebAssembly types (core specification, chapter 2.3) and the set of proposals a module uses.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::wasm {

// The values are the binary codes.
enum class ValType : uint8_t {
  i32 = 0x7f,
  i64 = 0x7e,
  f32 = 0x7d,
  f64 = 0x7c,
  v128 = 0x7b,
  funcref = 0x70,
  externref = 0x6f,
};

bool is_val_type(uint8_t code);
bool is_reference(ValType type);
std::string_view name(ValType type);
// "[i32 f32]"
std::string bracketed_types(std::span<const ValType> types);
// A span over one value type that lives as long as the program.
std::span<const ValType> single_type(ValType type);

struct FuncType {
  std::vector<ValType> params;
  std::vector<ValType> results;
  bool operator==(const FuncType&) const = default;
};

// Memories count pages of 64 KiB, tables count elements. is64: addresses are i64.
struct Limits {
  uint64_t min = 0;
  std::optional<uint64_t> max = {};
  bool shared = false;
  bool is64 = false;
  ValType address_type() const { return is64 ? ValType::i64 : ValType::i32; }
  bool operator==(const Limits&) const = default;
};

struct TableType {
  ValType element = ValType::funcref;
  Limits limits;
  bool operator==(const TableType&) const = default;
};

struct GlobalType {
  ValType type = ValType::i32;
  bool is_mutable = false;
  bool operator==(const GlobalType&) const = default;
};

enum class ExternalKind : uint8_t { function = 0, table = 1, memory = 2, global = 3 };
std::string_view name(ExternalKind kind);

enum class Feature : uint8_t {
#define LATHE_WASM_FEATURE(name_, text_) name_,
#include "lathe/wasm/features.def"
};
std::string_view name(Feature feature);
std::span<const Feature> all_features();

class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (Feature feature : features) add(feature);
  }
  static constexpr FeatureSet all() {
    FeatureSet set;
    set.bits_ = ~uint32_t{0};
    return set;
  }
  constexpr void add(Feature feature) { bits_ |= bit(feature); }
  constexpr void remove(Feature feature) { bits_ &= ~bit(feature); }
  constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  constexpr bool operator==(const FeatureSet&) const = default;

 private:
  static constexpr uint32_t bit(Feature feature) {
    return uint32_t{1} << static_cast<uint8_t>(feature);
  }
  uint32_t bits_ = 0;
};

}  // namespace lathe::wasm
