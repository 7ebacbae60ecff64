// The part of the C interface that prints modules. In pages it is a separate module,
// lathe-text.wasm, loaded on first use.
#include <utility>

#include "lathe/api/error.h"
#include "lathe/api/lathe.h"
#include "lathe/wasm/print.h"

const char* lathe_wat(const uint8_t* bytes, size_t length) {
  static std::string text;
  auto printed = lathe::wasm::print({bytes, length});
  if (!printed) {
    lathe::api::last_error() = printed.error().message;
    return nullptr;
  }
  text = std::move(*printed);
  return text.c_str();
}
