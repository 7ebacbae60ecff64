// Writes operations that a target lacks out in arithmetic: those with a SPELL column in
// scalar/ops.def.
// Before: any kernel. After: no expression applies such an operation. It runs after lowering, whose
// cost rules look at the short form, and before vectorise_loops, because only the spelled form has
// four lanes.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

//   y[i] = sigmoid(x[i])   becomes   y[i] = div(1.0, add(1.0, mul(…, from_bits(…))))
void spell_transcendentals(Kernel& kernel);
// Only those that the target lacks.
void spell_lacking(Kernel& kernel, bool (*lacks)(Op));

}  // namespace lathe::loop
