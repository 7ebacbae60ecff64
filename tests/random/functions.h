// Random functions over all operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::random_tests {

struct Function {
  graph::Graph graph;
  std::vector<std::string> recipes;  // in the order of selection
};

// Equal seeds yield equal functions. Up to `steps` operations are generated, by default as many as
// the seed determines: fewer yield a prefix of the function.
Function random_function(uint64_t seed, int steps = -1);
int steps_of(uint64_t seed);

// The operations of ops/operations.def that no recipe uses.
std::vector<std::string> operations_without_recipe();

}  // namespace lathe::random_tests
