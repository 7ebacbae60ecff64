// Emits addresses, indices and guards. It owns which loops are open around the current statement:
// the locals of their induction variables, and the values of unrolled variables and lanes. It knows
// no expressions: what a lookup adds to an address is a local that its caller has computed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/locals.h"

namespace lathe::emit_wasm {

class AddressEmitter {
 public:
  // In a function inside the loops `nest`, whose parameters are `params`, in order.
  AddressEmitter(const KernelContext& context, wasm::FunctionBuilder& code, Locals& locals,
                 std::vector<loop::VarId> nest, const std::set<InductionVariable>& params);

  // Makes the local the value of an induction variable.
  void bind(const InductionVariable& induction, uint32_t local) { inductions_[induction] = local; }
  void push(const InductionVariable& induction);
  void push_index(const loop::Affine& index);  // without the lane's part
  // `lookup`: a local with the bytes that a lookup adds.
  wasm::MemArg push_address(loop::BufferRef buffer, const loop::Affine& address,
                            std::optional<uint32_t> lookup = std::nullopt);
  // False if a guard is statically false, true if all are statically true; otherwise pushes
  // their conjunction and returns nullopt.
  std::optional<bool> push_guards(std::span<const loop::Guard> guards);
  SplitAddress split(const loop::Affine& affine, int64_t scale) const;

  // Serial and Parallel loops. Induction variables that end with the loop's variable start at their
  // outer part, or where the variable is `start`, a local. They are returned: each iteration ends
  // with advance, the loop with close_loop.
  std::set<InductionVariable> open_loop(const loop::Stmt& loop, std::optional<uint32_t> start);
  void advance(const std::set<InductionVariable>& moving);
  void close_loop(const std::set<InductionVariable>& moving);
  const std::vector<loop::VarId>& nest() const { return nest_; }
  // The outer parts of the induction variables that the body of the innermost open loop needs: the
  // parameters of a function that contains it.
  std::set<InductionVariable> params_of(const loop::Stmt& loop) const;

  // Unroll and Vector loops.
  const std::map<loop::VarId, int64_t>& unrolled() const { return fixed_.values; }
  void fix(loop::VarId var, int64_t value) { fixed_.values[var] = value; }
  void unfix(loop::VarId var) { fixed_.values.erase(var); }
  void open_lanes(loop::VarId lane, int64_t first) {
    fixed_.lane = lane;
    fixed_.first_lane = first;
  }
  void close_lanes() { open_lanes(-1, 0); }
  loop::VarId lane() const { return fixed_.lane; }  // the variable of the open Vector loop, or -1
  bool has_lanes() const { return fixed_.lane >= 0; }
  // Calls emit(lane) for each lane, with the Vector loop's variable fixed at the lane's value.
  template <class Emit>
  void for_each_lane(const Emit& emit) {
    const loop::VarId var = std::exchange(fixed_.lane, -1);
    for (int lane = 0; lane < context_.lanes; ++lane) {
      fix(var, fixed_.first_lane + lane);
      emit(static_cast<uint8_t>(lane));
    }
    unfix(var);
    fixed_.lane = var;
  }

 private:
  std::set<InductionVariable> inductions_of(const loop::Stmt& loop) const;

  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  std::vector<loop::VarId> nest_;                     // open Serial and Parallel loops
  std::map<InductionVariable, uint32_t> inductions_;  // local of each form that is alive
  Fixed fixed_;
};

}  // namespace lathe::emit_wasm
