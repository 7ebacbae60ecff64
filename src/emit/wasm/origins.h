// Which kernel and statement the instructions of a module come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/loop/loop.h"
#include "lathe/wasm/assembler.h"
#include "lathe/wasm/encode.h"

namespace lathe::emit_wasm {

// From this instruction of a function on, until the next one. Functions without any call others.
struct Origin {
  uint32_t function = 0;
  size_t instruction = 0;
  const loop::Kernel* kernel = nullptr;
  const loop::Stmt* statement = nullptr;  // null for what is around them
};

// The custom section "tensorlathe.origins":
// {"version":1,"kernels":[{"entry","kernel","node","part"}],"places":[[offset,kernel,statement],…]}
// An item of `places` applies from its byte of the module up to the next; `kernel` counts those of
// all entries, `statement` those of the kernel in the order they are printed; -1: none. `node` is
// that of the graph that was lowered.
inline constexpr char kOriginSection[] = "tensorlathe.origins";
std::string json(const std::vector<Origin>& origins, const loop::Module& loops,
                 const wasm::Module& module, const wasm::CodeOffsets& offsets);

}  // namespace lathe::emit_wasm
