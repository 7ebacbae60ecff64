// The graph passes in the order the pipeline runs them.
#pragma once

#include <span>
#include <string_view>

#include "graph/graph.h"

namespace lathe::opt {

// Takes a verified graph, gives a verified graph with the same value.
struct Pass {
  std::string_view name;
  graph::Graph (*run)(graph::Graph);
};

std::span<const Pass> passes();

}  // namespace lathe::opt
