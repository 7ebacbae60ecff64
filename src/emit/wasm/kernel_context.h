// The facts of a kernel that all parts of its emission share. Nothing here changes while it is
// emitted.
#pragma once

#include <cstdint>
#include <vector>

#include "lathe/base/table.h"
#include "lathe/emit/wasm/addresses.h"
#include "lathe/loop/loop.h"

namespace lathe::emit_wasm {

// The width of all Vector loops: 32-bit elements in a v128. In a kernel with 64-bit elements two
// vectors have as many lanes.
inline constexpr int64_t kVectorLanes = 4;

// What the engine that will run the module offers beyond WebAssembly 1.0.
struct Target {
  bool simd = true;
  bool relaxed_simd = false;
  bool threads = false;
};

struct KernelContext {
  KernelContext(const loop::Module& module, const loop::Kernel& kernel, const Placement& placement,
                Target target);

  const loop::Expr& expr(loop::ExprId id) const { return kernel.exprs[id]; }
  const loop::Expr& operand(const loop::Expr& of, size_t i) const { return expr(of.operands[i]); }
  int64_t extent(loop::VarId var) const { return kernel.vars[var].extent; }
  loop::DType dtype_of(loop::BufferRef buffer) const {
    return loop::buffers_in(buffer.space, module, kernel)[buffer.id].dtype;
  }
  bool is_vector_register(loop::BufferRef buffer) const { return vector_registers[buffer.id] > 0; }

  const loop::Module& module;
  const loop::Kernel& kernel;
  const Placement& placement;
  const Target target;
  const int lanes;  // of vectors in this kernel: all have as many as those of its widest type
  const Table<loop::BufferId, int64_t> vector_registers;  // none without SIMD
};

}  // namespace lathe::emit_wasm
