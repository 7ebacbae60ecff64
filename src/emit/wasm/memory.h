// Loads and stores of buffers: of a scalar, or of all lanes, from one address or from several.
#pragma once

#include <optional>

#include "lathe/emit/wasm/address_emitter.h"
#include "lathe/emit/wasm/constants.h"
#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/lanes.h"
#include "lathe/emit/wasm/lookups.h"
#include "lathe/emit/wasm/registers.h"
#include "lathe/emit/wasm/statement_values.h"

namespace lathe::emit_wasm {

class MemoryEmitter {
 public:
  MemoryEmitter(const KernelContext& context, wasm::FunctionBuilder& code, Locals& locals,
                AddressEmitter& addresses, VectorConstants& constants, LaneEmitter& lanes,
                RegisterEmitter& registers, StatementValues& values, LookupEmitter& lookups,
                ExpressionEmitter& expressions)
      : context_(context),
        code_(code),
        locals_(locals),
        addresses_(addresses),
        constants_(constants),
        lanes_(lanes),
        registers_(registers),
        values_(values),
        lookups_(lookups),
        expressions_(expressions) {}

  void load_scalar(const loop::Expr& load);
  void load_vector(const loop::Expr& load);
  // Loads a scalar into all lanes. False: it takes more than one instruction, and nothing is
  // emitted.
  bool load_splat(const loop::Expr& load);
  void store_register(const loop::Stmt& stmt);
  void store_global(const loop::Stmt& stmt);

 private:
  void load_scalar(const loop::Expr& load, std::optional<uint32_t> lookup);
  void load_scalar_unguarded(const loop::Expr& load, std::optional<uint32_t> lookup);
  void load_vector_unguarded(const loop::Expr& load, std::optional<uint32_t> lookup);
  void load_vector_by_lane(const loop::Expr& load);
  void gather(const loop::Expr& load);
  void scatter(const loop::Stmt& stmt);

  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  AddressEmitter& addresses_;
  VectorConstants& constants_;
  LaneEmitter& lanes_;
  RegisterEmitter& registers_;
  StatementValues& values_;
  LookupEmitter& lookups_;
  ExpressionEmitter& expressions_;
};

}  // namespace lathe::emit_wasm
