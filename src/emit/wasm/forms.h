// Addresses as code: the part of an affine form that loop variables move is kept in a local that
// each loop advances by a constant, so an access costs no multiplication; the constant part becomes
// the instruction's offset.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::emit {

// Where the global buffers of a module lie in memory 0: at fixed addresses, or behind bases that
// entries take as parameters.
struct Placement {
  std::span<const uint64_t> offsets;     // bytes, by buffer id; from its base, if there are any
  std::span<const int32_t> bases = {};   // by buffer id, the number of the parameter; none: fixed
  bool is_relocatable = !bases.empty();  // also where there is no buffer

  uint64_t offset_of(loop::BufferRef buffer) const {
    return offsets[static_cast<size_t>(buffer.id)];
  }
  int32_t base_of(loop::BufferRef buffer) const {
    return bases.empty() ? -1 : bases[static_cast<size_t>(buffer.id)];
  }
};

// A base, and coefficient * var summed, outermost loop first. Byte units for addresses, plain
// numbers for indices, which have no base.
struct Form {
  std::vector<loop::Term> terms;
  int32_t base = -1;

  bool operator<(const Form& other) const;
  bool empty() const { return base < 0 && terms.empty(); }
  // The base and the terms up to and including the loop at `depth` of the nest.
  Form prefix(std::span<const loop::VarId> nest, size_t depth) const;
};

// What stands inside unrolled and vector loops at the moment.
struct Fixed {
  std::map<loop::VarId, int64_t> values;  // unrolled variables
  loop::VarId lane = -1;                  // variable of the open Vector loop
  int64_t first_lane = 0;                 // its value in the first lane
};

// An affine form taken apart: sum of form, constant and lane_coefficient * lane, where the first of
// the lanes that are computed at once is lane 0.
struct Place {
  Form form;
  int64_t constant = 0;
  int64_t lane_coefficient = 0;
};
// `scale` multiplies form and constant (element size), not lane_coefficient. `nest`: open Serial
// and Parallel loops, outermost first.
Place place_of(const loop::Affine& affine, int64_t scale, std::span<const loop::VarId> nest,
               const Fixed& fixed);

// Every form that `body` uses, inside the loops `nest`.
std::set<Form> forms_of(const loop::Module& module, const Placement& placement,
                        const loop::Kernel& kernel, std::span<const loop::Stmt> body,
                        std::vector<loop::VarId> nest);

}  // namespace lathe::emit
