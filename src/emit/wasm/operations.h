// Operations on scalars and vectors: one instruction where the opcode table has it, otherwise a
// sequence of instructions. Vector operations without an instruction are applied lane by lane.
#pragma once

#include "lathe/emit/wasm/address_emitter.h"
#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/lanes.h"
#include "lathe/emit/wasm/pairs.h"
#include "lathe/emit/wasm/registers.h"
#include "lathe/emit/wasm/statement_values.h"

namespace lathe::emit_wasm {

class OperationEmitter {
 public:
  OperationEmitter(const KernelContext& context, wasm::FunctionBuilder& code, Locals& locals,
                   AddressEmitter& addresses, LaneEmitter& lanes, RegisterEmitter& registers,
                   StatementValues& values, PairEmitter& pairs, ExpressionEmitter& expressions)
      : context_(context),
        code_(code),
        locals_(locals),
        addresses_(addresses),
        lanes_(lanes),
        registers_(registers),
        values_(values),
        pairs_(pairs),
        expressions_(expressions) {}

  // Of kind Apply, operands included.
  void apply_scalar(const loop::Expr& expr);
  void apply_vector(const loop::Expr& expr);

 private:
  bool emit_any_true(const loop::Expr& expr);
  bool is_never_nan(loop::ExprId id) const;
  bool emit_min_max(const loop::Expr& expr);
  bool emit_select_as_min_max(const loop::Expr& expr);
  void select_vector(const loop::Expr& expr);
  void select_rarely(const loop::Expr& expr, bool vector);
  void apply_to_lanes(const loop::Expr& expr);

  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  AddressEmitter& addresses_;
  LaneEmitter& lanes_;
  RegisterEmitter& registers_;
  StatementValues& values_;
  PairEmitter& pairs_;
  ExpressionEmitter& expressions_;
};

}  // namespace lathe::emit_wasm
