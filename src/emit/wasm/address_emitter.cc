#include "lathe/emit/wasm/address_emitter.h"

#include <algorithm>

#include "lathe/base/check.h"

namespace lathe::emit_wasm {

using wasm::Opcode;
using wasm::ValType;

AddressEmitter::AddressEmitter(const KernelContext& context, wasm::FunctionBuilder& code,
                               Locals& locals, std::vector<loop::VarId> nest,
                               const std::set<InductionVariable>& params)
    : context_(context), code_(code), locals_(locals), nest_(std::move(nest)) {
  for (uint32_t index = 0; const InductionVariable& induction : params) bind(induction, index++);
}

SplitAddress AddressEmitter::split(const loop::Affine& affine, int64_t scale) const {
  return split_address(affine, scale, nest_, fixed_);
}

void AddressEmitter::push(const InductionVariable& induction) {
  if (induction.empty()) {
    code_.i32_const(0);
    return;
  }
  const auto local = inductions_.find(induction);
  LATHE_CHECK(local != inductions_.end());
  code_.op_index(Opcode::local_get, local->second);
}

void AddressEmitter::push_index(const loop::Affine& index) {
  const SplitAddress at = split(index, 1);
  if (at.induction.empty()) {
    code_.i32_const(static_cast<int32_t>(at.constant));
    return;
  }
  push(at.induction);
  if (at.constant != 0) {
    code_.i32_const(static_cast<int32_t>(at.constant)).op(Opcode::i32_add);
  }
}

// A pointer that may be negative must be complete before the unsigned offset is added to it.
wasm::MemArg AddressEmitter::push_address(loop::BufferRef buffer, const loop::Affine& address,
                                          std::optional<uint32_t> lookup) {
  SplitAddress at = split(address, scalar::size_of(context_.dtype_of(buffer)));
  at.induction.base = context_.placement.base_of(buffer);
  const int64_t constant = at.constant + static_cast<int64_t>(context_.placement.offset_of(buffer));
  const bool falls = std::ranges::any_of(
      at.induction.terms, [](const loop::Term& term) { return term.coefficient < 0; });
  push(at.induction);
  if (lookup) code_.op_index(Opcode::local_get, *lookup).op(Opcode::i32_add);
  wasm::MemArg memory;
  if (!falls && at.constant >= 0) {
    memory.offset = static_cast<uint64_t>(constant);
  } else {
    code_.i32_const(static_cast<int32_t>(constant)).op(Opcode::i32_add);
  }
  return memory;
}

std::optional<bool> AddressEmitter::push_guards(std::span<const loop::Guard> guards) {
  bool pushed = false;
  std::vector<const loop::Guard*> unknown;
  for (const loop::Guard& guard : guards) {
    const SplitAddress at = split(guard.index, 1);
    if (!at.induction.empty()) {
      unknown.push_back(&guard);
    } else if (at.constant < 0 || at.constant >= guard.extent) {
      return false;
    }
  }
  for (const loop::Guard* guard : unknown) {
    push_index(guard->index);
    code_.i32_const(static_cast<int32_t>(guard->extent)).op(Opcode::i32_lt_u);
    if (pushed) code_.op(Opcode::i32_and);
    pushed = true;
  }
  if (!pushed) return true;
  return std::nullopt;
}

std::set<InductionVariable> AddressEmitter::inductions_of(const loop::Stmt& loop) const {
  return induction_variables_of(context_.module, context_.placement, context_.kernel, loop.body,
                                nest_);
}

std::set<InductionVariable> AddressEmitter::open_loop(const loop::Stmt& loop,
                                                      std::optional<uint32_t> start) {
  nest_.push_back(loop.var);
  const size_t depth = nest_.size() - 1;
  std::set<InductionVariable> moving;
  for (const InductionVariable& induction : inductions_of(loop)) {
    const InductionVariable head = induction.prefix(nest_, depth);
    if (!head.terms.empty() && head.terms.back().var == loop.var) moving.insert(head);
  }
  for (const InductionVariable& induction : moving) {
    InductionVariable outer = induction;
    outer.terms.pop_back();
    push(outer);
    if (start) {
      const auto coefficient = static_cast<int32_t>(induction.terms.back().coefficient);
      code_.op_index(Opcode::local_get, *start).i32_const(coefficient).op(Opcode::i32_mul);
      code_.op(Opcode::i32_add);
    }
    const uint32_t local = locals_.acquire(ValType::i32);
    code_.op_index(Opcode::local_set, local);
    bind(induction, local);
  }
  return moving;
}

void AddressEmitter::advance(const std::set<InductionVariable>& moving) {
  for (const InductionVariable& induction : moving) {
    const uint32_t local = inductions_[induction];
    code_.op_index(Opcode::local_get, local);
    code_.i32_const(static_cast<int32_t>(induction.terms.back().coefficient)).op(Opcode::i32_add);
    code_.op_index(Opcode::local_set, local);
  }
}

void AddressEmitter::close_loop(const std::set<InductionVariable>& moving) {
  for (const InductionVariable& induction : moving) {
    locals_.release(ValType::i32, inductions_[induction]);
    inductions_.erase(induction);
  }
  nest_.pop_back();
}

std::set<InductionVariable> AddressEmitter::params_of(const loop::Stmt& loop) const {
  std::set<InductionVariable> params;
  for (const InductionVariable& induction : inductions_of(loop)) {
    const InductionVariable head = induction.prefix(nest_, nest_.size() - 1);
    if (!head.empty()) params.insert(head);
  }
  return params;
}

}  // namespace lathe::emit_wasm
