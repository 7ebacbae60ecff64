// A typed handle for every instruction, for people: f(local::get, 0); f(f32::add); f(i32::load,
// {.offset = 8}). A handle with the wrong immediate does not compile. Meant for `using namespace
// lathe::wasm::handles` in a function.
#pragma once

#include "lathe/wasm/opcode.h"

namespace lathe::wasm {

template <Immediate kImmediate>
struct Handle {
  Opcode op;
};

namespace handles {

#define LATHE_WASM_OP(group_, name_, text_, code_, immediate_, ...)                 \
  namespace group_ {                                                                \
  inline constexpr Handle<Immediate::immediate_> name_{static_cast<Opcode>(code_)}; \
  }
#define LATHE_WASM_OP_KEYWORD(group_, name_, text_, code_, immediate_, ...)            \
  namespace group_ {                                                                   \
  inline constexpr Handle<Immediate::immediate_> name_##_{static_cast<Opcode>(code_)}; \
  }
#define LATHE_WASM_OP_BARE(name_, text_, code_, immediate_, ...) \
  inline constexpr Handle<Immediate::immediate_> name_{static_cast<Opcode>(code_)};
#include "lathe/wasm/opcodes.def"

}  // namespace handles
}  // namespace lathe::wasm
