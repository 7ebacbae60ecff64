// Whether iterations of a loop access the same memory.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

// Whether a lane may read or write an element that another lane of the Vector loop writes.
// Considers addresses only, not guards; the loop contains Stores and Unroll loops.
bool lanes_meet(const Kernel& kernel, const Stmt& loop);

// The same of any two iterations, for Global buffers only.
bool iterations_meet(const Kernel& kernel, const Stmt& loop);

// What a store writes or a load reads.
struct Access {
  const Affine& address;
  const Lookup& lookup;
  ExprId index;  // of the lookup
};

// Whether `a` and `b` may be the same element of one buffer in two different iterations of the loop
// over `var` at a distance less than `reach`, or, if `var` is -1, in the same iteration of all
// loops around `body`. `body` is the body of that loop. Loops in `body` may be anywhere in both.
bool may_meet(const Kernel& kernel, const std::vector<Stmt>& body, VarId var, int64_t reach,
              const Access& a, const Access& b);

}  // namespace lathe::loop
