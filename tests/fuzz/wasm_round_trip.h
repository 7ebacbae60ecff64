// The invariant of the WebAssembly fuzzer, for arbitrary bytes, also checked over its corpus:
// nothing crashes, and a decoded module encodes to bytes that decode to the same module.
#pragma once

#include "lathe/base/check.h"
#include "lathe/wasm/decode.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/print.h"
#include "lathe/wasm/validate.h"

namespace lathe::wasm {

inline void round_trip(std::span<const uint8_t> bytes) {
  const Result<Module> module = decode(bytes);
  if (!module) return;
  const bool is_valid = validate(*module).has_value();
  const std::vector<uint8_t> encoded = encode(*module);
  const std::string text = print(*module);
  const Result<Module> redecoded = decode(encoded);
  LATHE_CHECK(redecoded.has_value());
  LATHE_CHECK(validate(*redecoded).has_value() == is_valid);
  LATHE_CHECK(encode(*redecoded) == encoded);
  LATHE_CHECK(print(*redecoded) == text);
}

}  // namespace lathe::wasm
