// The part of the C interface that spells modules. In pages it is a module of its own,
// lathe-text.wasm, which is loaded when somebody asks.
#include "api/error.h"
#include "api/lathe.h"
#include "wasm/decode.h"
#include "wasm/print.h"

const char* lathe_wat(const uint8_t* bytes, size_t length) {
  static std::string text;
  const auto module = lathe::wasm::decode({bytes, length});
  if (!module) {
    lathe::api::last_error() = module.error().message;
    return nullptr;
  }
  text = lathe::wasm::print(*module);
  return text.c_str();
}
