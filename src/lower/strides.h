// How the loads of an expression move with a loop variable: what decides which loop becomes lanes.
#pragma once

#include "loop/loop.h"

namespace lathe::lower {

enum class Stride {
  None,        // no load depends on the variable
  Contiguous,  // every load has coefficient 0 or 1, at least one has 1
  Other,
};

// Over the loads from Global buffers that `expr` reaches. A guard that depends on the variable
// makes it Other.
Stride stride_of(const loop::Kernel& kernel, loop::ExprId expr, loop::VarId var);

}  // namespace lathe::lower
