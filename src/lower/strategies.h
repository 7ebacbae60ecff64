// How a group becomes a kernel: one strategy for each kind of anchor. Nothing here decides what is
// fused.
#pragma once

#include "lower/nest.h"

namespace lathe::lower {

// One loop for each axis around the stores; scheduled later by collapse_loops and vectorise_loops.
void lower_map(Nest& nest, const Group& group);

// A running fold in registers: lanes along the reduced axis where that is contiguous, else along a
// kept axis.
void lower_reduce(Nest& nest, const Group& group);

// Register tiles of the output with the reduced dimensions innermost; scatters where iterations
// share a place.
void lower_contract(Nest& nest, const Group& group);

}  // namespace lathe::lower
