// Statements and loops in one function: Serial and Parallel loops become loops with a counter,
// Unroll loops copies, Vector loops SIMD instructions, outlined bodies calls of other functions. It
// owns the emitters of addresses, values and memory of this function, and decides when they open
// and close what loops share.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "lathe/emit/wasm/address_emitter.h"
#include "lathe/emit/wasm/casts.h"
#include "lathe/emit/wasm/constants.h"
#include "lathe/emit/wasm/expressions.h"
#include "lathe/emit/wasm/hoisting.h"
#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/kernel_functions.h"
#include "lathe/emit/wasm/lanes.h"
#include "lathe/emit/wasm/locals.h"
#include "lathe/emit/wasm/lookups.h"
#include "lathe/emit/wasm/memory.h"
#include "lathe/emit/wasm/operations.h"
#include "lathe/emit/wasm/pairs.h"
#include "lathe/emit/wasm/registers.h"
#include "lathe/emit/wasm/statement_values.h"

namespace lathe::emit_wasm {

class FunctionEmitter {
 public:
  // The first parameters of the function are `params`; it is called inside the loops `nest`.
  FunctionEmitter(const KernelContext& context, KernelFunctions& functions,
                  wasm::FunctionBuilder& code, const std::set<InductionVariable>& params,
                  std::vector<loop::VarId> nest = {});
  FunctionEmitter(const FunctionEmitter&) = delete;
  FunctionEmitter& operator=(const FunctionEmitter&) = delete;

  void emit_body(std::span<const loop::Stmt> body);
  // A part of a Parallel nest, outermost loop first: of each loop the iteration in the local
  // `starts`, of the innermost one as many from there on as the local `count` states, at least one.
  void emit_parallel(std::span<const loop::Stmt* const> loops, std::span<const uint32_t> starts,
                     uint32_t count);
  Locals& locals() { return locals_; }
  AddressEmitter& addresses() { return addresses_; }

 private:
  using Inductions = std::set<InductionVariable>;

  void emit_stmt(const loop::Stmt& stmt);
  void emit_kind(const loop::Stmt& stmt);
  void emit_loop(const loop::Stmt& stmt);
  void emit_serial(const loop::Stmt& stmt);
  void emit_unrolled(const loop::Stmt& stmt);
  void emit_lanes(const loop::Stmt& stmt);
  Inductions open_loop(const loop::Stmt& stmt, std::optional<uint32_t> start = {});
  void close_loop(const Inductions& moving);
  void emit_iterations(const loop::Stmt& stmt, const Inductions& moving, uint32_t counter);
  void emit_outlined_call(const loop::Stmt& stmt);
  void emit_if(const loop::Stmt& stmt);
  void emit_when(const loop::Stmt& stmt);
  void emit_conditional(std::span<const loop::Stmt> body);
  void emit_store(const loop::Stmt& stmt);

  const KernelContext& context_;
  KernelFunctions& functions_;
  wasm::FunctionBuilder& code_;
  const loop::Stmt* statement_ = nullptr;  // the innermost that is being emitted
  int open_loops_ = 0;                     // Serial and Parallel ones in this function

  Locals locals_;
  AddressEmitter addresses_;
  VectorConstants constants_;
  LaneEmitter lanes_;
  RegisterEmitter registers_;
  StatementValues values_;
  CastEmitter casts_;
  LookupEmitter lookups_;
  MemoryEmitter memory_;
  PairEmitter pairs_;
  OperationEmitter operations_;
  ExpressionEmitter expressions_;
  LoopHoister hoister_;
};

}  // namespace lathe::emit_wasm
