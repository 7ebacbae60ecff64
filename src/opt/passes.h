// The graph passes in the order they run.
#pragma once

#include <span>
#include <string_view>

#include "lathe/graph/graph.h"

namespace lathe::opt {

struct Pass {
  std::string_view name;
  graph::Graph (*run)(graph::Graph);
};

std::span<const Pass> passes();
// The last of them, which express types of storage by those of arithmetic.
std::span<const Pass> type_passes();

}  // namespace lathe::opt
