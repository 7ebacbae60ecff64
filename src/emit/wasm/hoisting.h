// Hoists out of loops what all of their iterations repeat. It decides what is worth a local; those
// that emit the hoisted values own the locals.
#pragma once

#include <span>
#include <vector>

#include "lathe/emit/wasm/address_emitter.h"
#include "lathe/emit/wasm/constants.h"
#include "lathe/emit/wasm/expressions.h"
#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/lookups.h"
#include "lathe/emit/wasm/statement_values.h"

namespace lathe::emit_wasm {

class LoopHoister {
 public:
  LoopHoister(const KernelContext& context, const AddressEmitter& addresses,
              VectorConstants& constants, StatementValues& values, LookupEmitter& lookups,
              ExpressionEmitter& expressions)
      : context_(context),
        addresses_(addresses),
        constants_(constants),
        values_(values),
        lookups_(lookups),
        expressions_(expressions) {}

  // Whether the body becomes a function. Each copy of an unrolled loop would need a separate one,
  // so there bodies are emitted inline.
  bool is_outlined(const loop::Stmt& loop) const {
    return loop.outlined && addresses_.unrolled().empty();
  }
  // Vector constants that an outermost loop uses, but in outlined bodies.
  void hoist_constants(const loop::Stmt& loop);
  void release_constants() { constants_.release_hoisted(); }
  // Splats and lookups of an innermost loop that none of its iterations changes.
  void hoist_invariants(const loop::Stmt& loop);
  void release_invariants();

 private:
  void hoist_constants(std::span<const loop::Stmt> body, loop::VarId lane);

  const KernelContext& context_;
  const AddressEmitter& addresses_;
  VectorConstants& constants_;
  StatementValues& values_;
  LookupEmitter& lookups_;
  ExpressionEmitter& expressions_;
};

}  // namespace lathe::emit_wasm
