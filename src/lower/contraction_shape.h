// What decides how fast a contraction can be: its loops, and how memory moves under them. Schedules
// are found by it. It knows no loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::lower {

struct ContractionShape {
  struct Dimension {
    int64_t extent;
    // Elements between neighbours in the output and the operands; 0 where it does not depend on the
    // dimension.
    int64_t out, lhs, rhs;
  };
  loop::DType dtype = loop::DType::F32;
  loop::DType read[2] = {dtype, dtype};     // types of the operands in memory
  std::vector<Dimension> spatial, reduced;  // outermost first
  bool inplace = false;  // each element must be stored once: its old value is read
  bool paired = false;   // the innermost of `reduced` counts pairs of products

  int64_t depth() const;  // elements summed for each of the output
  int64_t multiply_adds() const;
  // Elements of the operand between neighbours, either way.
  int64_t step(const Dimension& dimension, int operand) const;
  int64_t uses(int operand) const;  // of each of its elements
};

// A short text, equal for contractions that the same schedule suits:
// "f32 64:128,784,0 128:1,0,1 | 784:0,1,128" lists extent:out,lhs,rhs of spatial | reduced
// dimensions. `notes`: whatever else a target distinguishes.
std::string contraction_key(const ContractionShape& shape, std::string_view notes = {});

}  // namespace lathe::lower
