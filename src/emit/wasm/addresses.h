// Strength-reduced addresses: the part of an affine form that depends on loop variables is a local
// that each loop increments by a constant, so an access needs no multiplication; the constant part
// becomes the instruction's offset.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::emit_wasm {

// The addresses of the global buffers of a module in memory 0: fixed, or relative to bases that are
// parameters of the entries.
struct Placement {
  std::span<const uint64_t> offsets;     // bytes, by buffer id; from its base, if there are any
  std::span<const int32_t> bases = {};   // by buffer id, the index of the parameter; empty: fixed
  bool is_relocatable = !bases.empty();  // also where there is no buffer

  uint64_t offset_of(loop::BufferRef buffer) const { return offsets[buffer.id]; }
  int32_t base_of(loop::BufferRef buffer) const { return bases.empty() ? -1 : bases[buffer.id]; }
};

// The sum of a base and coefficient * var, outermost loop first: in bytes for addresses, in
// elements for indices, which have no base.
struct InductionVariable {
  std::vector<loop::Term> terms;
  int32_t base = -1;

  bool operator<(const InductionVariable& other) const;
  bool empty() const { return base < 0 && terms.empty(); }
  // The base and the terms up to and including the loop at `depth` of the nest.
  InductionVariable prefix(std::span<const loop::VarId> nest, size_t depth) const;
};

// Values of the variables of the enclosing unrolled and vector loops.
struct Fixed {
  std::map<loop::VarId, int64_t> values;  // unrolled variables
  loop::VarId lane = -1;                  // variable of the open Vector loop
  int64_t first_lane = 0;                 // its value in the first lane
};

// An affine form as the sum of `induction`, constant and lane_coefficient * lane, where the first
// of the lanes that are computed at once is lane 0.
struct SplitAddress {
  InductionVariable induction;
  int64_t constant = 0;
  int64_t lane_coefficient = 0;
};
// `scale` multiplies `induction` and `constant` (element size), not lane_coefficient. `nest`: open
// Serial and Parallel loops, outermost first.
SplitAddress split_address(const loop::Affine& affine, int64_t scale,
                           std::span<const loop::VarId> nest, const Fixed& fixed);

// All induction variables that `body` uses, inside the loops `nest`.
std::set<InductionVariable> induction_variables_of(const loop::Module& module,
                                                   const Placement& placement,
                                                   const loop::Kernel& kernel,
                                                   std::span<const loop::Stmt> body,
                                                   std::vector<loop::VarId> nest);

}  // namespace lathe::emit_wasm
