// Rewrites nodes by the rules of algebra_rules.cc and by these on shapes:
//   reshape(reshape(x)) -> reshape(x), reindex(reindex(x)) -> reindex(x) where that is exact,
//   identity reshape, reindex and cast -> x, reduce over axes of size 1 -> reshape,
//   map(reindex(x), …) -> reindex(map(x, …)) where all operands repeat elements in the same way,
//   contract(permuted x, y) -> contract(x, y) with the permutation in its index map.
//
// Before: after differentiation (it removes detach). After: no rule applies; replaced nodes are
// removed or dead. Values stay, up to the sign of zero. One walk, operands first, so it is linear.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::opt {

graph::Graph simplify_algebra(graph::Graph graph);

}  // namespace lathe::opt
