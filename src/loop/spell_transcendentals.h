// Writes exp, log, tanh and sigmoid out in arithmetic.
// Before: any kernel. After: no expression applies an operation that scalar/decompose.h spells. It
// runs after lowering, whose cost rules look at the short form, and before vectorise_loops, because
// only the spelled form has four lanes.
#pragma once

#include "loop/loop.h"

namespace lathe::loop {

//   y[i] = sigmoid(x[i])   becomes   y[i] = div(1.0, add(1.0, mul(…, from_bits(…))))
void spell_transcendentals(Kernel& kernel);

}  // namespace lathe::loop
