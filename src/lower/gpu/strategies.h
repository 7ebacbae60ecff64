// How lower/strategies.h is done for threads of a GPU: one element at a time, for passes that give
// the loops around it to threads.
#pragma once

#include "lower/strategies.h"

namespace lathe::lower::gpu {

// One running sum for each element of the output.
void lower_contract(Contraction& contraction);

// A running fold along the axis for each row.
void lower_scan(Nest& nest, const Group& group);

// By counting what comes before each element.
void lower_sort(SortSpace& space);

}  // namespace lathe::lower::gpu
