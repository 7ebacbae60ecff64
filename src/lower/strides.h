// How the loads and indices of an expression move with a loop variable: what decides which loop
// becomes lanes.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::lower {

enum class Stride {
  None,        // no load or index depends on the variable
  Contiguous,  // every load has coefficient 0 or 1, and something depends on the variable
  Other,
};

// Over what `expr` reaches. A guard that depends on the variable makes it Other.
Stride stride_of(const loop::Kernel& kernel, loop::ExprId expr, loop::VarId var);

}  // namespace lathe::lower
