// What must hold for any bytes, shared by the fuzzer and the test over its corpus: nothing crashes,
// and what decodes encodes to bytes that decode to the same again.
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
  const Result<Module> again = decode(encoded);
  LATHE_CHECK(again.has_value());
  LATHE_CHECK(validate(*again).has_value() == is_valid);
  LATHE_CHECK(encode(*again) == encoded);
  LATHE_CHECK(print(*again) == text);
}

}  // namespace lathe::wasm
