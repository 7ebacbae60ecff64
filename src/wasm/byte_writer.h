// Appending the basic values of the binary format (core specification 5.2).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lathe/base/leb128.h"

namespace lathe::wasm {

using Bytes = std::vector<uint8_t>;

inline void append_bytes(Bytes& out, std::span<const uint8_t> bytes) {
  out.insert(out.end(), bytes.data(), bytes.data() + bytes.size());
}

inline void append_name(Bytes& out, std::string_view name) {
  append_uleb128(out, name.size());
  out.insert(out.end(), name.begin(), name.end());
}

// Little-endian, `size` bytes.
inline void append_fixed(Bytes& out, uint64_t bits, int size) {
  for (int i = 0; i < size; ++i) out.push_back(static_cast<uint8_t>(bits >> (8 * i)));
}

}  // namespace lathe::wasm
