// Rewrites contractions that scatter so that every element of the result gathers its terms.
//
// Before: any graph. After: where the output map of a contraction was stride * i + j + offset, as
// for the gradients of convolutions, pools and slices by their input, it is a projection; the
// phases of a stride are a separate axis until a reshape. Sums of products with one number are
// reductions of a view, which later passes fuse. It runs early, because the rules for views and
// sums apply to what it makes.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph gather_outputs(graph::Graph graph);

}  // namespace lathe::opt
