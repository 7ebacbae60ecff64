// Compares the gradients of a graph with central finite differences of the graph evaluator.
#pragma once

#include "lathe/graph/builder.h"

namespace lathe::grad {

// `build` makes inputs and states and returns an F32 tensor of any shape. Checks the gradients of
// sum(weights * result) by every F32 input and state at a random point (seeded by name), as
// GoogleTest expectations. Values are in ±2, in steps with a distance from kinks at 0.
void check_gradients(const char* name, graph::Tensor (*build)(graph::Builder&));

}  // namespace lathe::grad
