// Expressions of the loop IR as instructions that leave a scalar or a vector on the stack. A Bool
// is 0 or 1 as a scalar and a mask of ones as a lane; integers shorter than a lane fill it. It owns
// the locals of scalars that an innermost loop repeats as vectors.
#pragma once

#include <cstdint>
#include <map>

#include "lathe/emit/wasm/address_emitter.h"
#include "lathe/emit/wasm/casts.h"
#include "lathe/emit/wasm/memory.h"
#include "lathe/emit/wasm/operations.h"
#include "lathe/emit/wasm/pairs.h"

namespace lathe::emit_wasm {

class ExpressionEmitter {
 public:
  ExpressionEmitter(const KernelContext& context, wasm::FunctionBuilder& code, Locals& locals,
                    AddressEmitter& addresses, VectorConstants& constants, LaneEmitter& lanes,
                    StatementValues& values, CastEmitter& casts, MemoryEmitter& memory,
                    PairEmitter& pairs, OperationEmitter& operations)
      : context_(context),
        code_(code),
        locals_(locals),
        addresses_(addresses),
        constants_(constants),
        lanes_(lanes),
        values_(values),
        casts_(casts),
        memory_(memory),
        pairs_(pairs),
        operations_(operations) {}

  void emit_scalar(loop::ExprId id);
  void emit_vector(loop::ExprId id);

  // Stores the splat of a scalar in a local, from which emit_vector reads it until release_hoisted.
  void hoist_splat(loop::ExprId id);
  bool is_hoisted(loop::ExprId id) const { return splats_.contains(id); }
  size_t hoisted_count() const { return splats_.size(); }
  void release_hoisted();

 private:
  void emit_splat(loop::ExprId id);
  void index_vector(const loop::Expr& expr);

  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  AddressEmitter& addresses_;
  VectorConstants& constants_;
  LaneEmitter& lanes_;
  StatementValues& values_;
  CastEmitter& casts_;
  MemoryEmitter& memory_;
  PairEmitter& pairs_;
  OperationEmitter& operations_;
  std::map<loop::ExprId, uint32_t> splats_;
};

}  // namespace lathe::emit_wasm
