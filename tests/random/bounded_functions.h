// Bounds of the functions that rows of scalar/ops.def expand: trigonometry, powers, remainders.
#pragma once

#include "bounded.h"

namespace lathe::random_tests {

// f(x, y), before it is rounded; unknown where the operands leave open on which branch it is. An
// operation that has no function here is an error of the test.
Bounded function_of(Op op, Bounded x, Bounded y);

}  // namespace lathe::random_tests
