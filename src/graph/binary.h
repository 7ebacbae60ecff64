// Graphs as bytes, to hand them from one module to another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::graph {

// Elements of constants are stored separately, without duplicates.
struct Encoded {
  std::vector<uint8_t> bytes;
  std::vector<SharedBytes> constants;
};

// Parts, which change no meaning, are left out.
Encoded encode(const Graph& graph);

// The graph that was encoded. The bytes come from another module and are not trusted. Errors: bytes
// that encode no graph; a graph that `verify` rejects.
Result<Graph> decode(std::span<const uint8_t> bytes, std::span<const SharedBytes> constants);

}  // namespace lathe::graph
