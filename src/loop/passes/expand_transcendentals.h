// Expands operations without an instruction into arithmetic: those with an EXPAND column in
// scalar/ops.def.
// Before: any kernel. After: no expression applies such an operation. It runs after lowering, whose
// cost model uses the unexpanded operations, and before vectorize_loops, because only the expansion
// has four lanes.
#pragma once

#include "lathe/loop/loop.h"

namespace lathe::loop {

//   y[i] = sigmoid(x[i])   becomes   y[i] = div(1.0, add(1.0, mul(…, from_bits(…))))
void expand_transcendentals(Kernel& kernel);
// Only those for which `needs_expansion` returns true. `keeps_order`: as
// scalar::expand::keeps_order.
void expand_unsupported(Kernel& kernel, bool (*needs_expansion)(Op), bool keeps_order = true);

}  // namespace lathe::loop
