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

// By one of the strategies for contractions, which its schedule names.
void lower_contract(Nest& nest, const Group& group);

class Contraction;
void tile_contract(Contraction& contraction, const ContractionShape& shape,
                   const Schedule& schedule);
void scatter_contract(Contraction& contraction);

}  // namespace lathe::lower
