#include "lathe/emit/wasm/kernel_context.h"

#include <algorithm>

#include "lathe/emit/wasm/instruction_selection.h"
#include "lathe/loop/analysis/vector_registers.h"

namespace lathe::emit_wasm {

namespace {

int lanes_of(const loop::Kernel& kernel) {
  int size = 4;
  for (const loop::Expr& expr : kernel.exprs) size = std::max(size, lane_size(expr.dtype));
  return 16 / size;
}

}  // namespace

KernelContext::KernelContext(const loop::Module& all, const loop::Kernel& emitted,
                             const Placement& placed, Target engine)
    : module(all),
      kernel(emitted),
      placement(placed),
      target(engine),
      lanes(lanes_of(emitted)),
      vector_registers(engine.simd ? loop::vector_registers(emitted)
                                   : Table<loop::BufferId, int64_t>(emitted.registers.size())) {}

}  // namespace lathe::emit_wasm
