// LEB128 integers (WebAssembly core specification, section 5.2.2).
#pragma once

#include <cstdint>
#include <vector>

namespace lathe {

inline void append_uleb128(std::vector<uint8_t>& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<uint8_t>(value));
}

inline void append_sleb128(std::vector<uint8_t>& out, int64_t value) {
  while (value < -64 || value > 63) {
    out.push_back(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<uint8_t>(value & 0x7f));
}

}  // namespace lathe
