// A graph with data-dependent shapes as segments that run in sequence: sizes are read between them.
#pragma once

#include <span>

#include "lathe/graph/graph.h"

namespace lathe::graph {

// Segment `index` of a graph that is split after the values `boundaries`, in order: the nodes
// after boundary index - 1 up to boundary `index`, or to the end. What it reads of earlier segments
// are inputs
// "%ID"; outputs "%ID" are its boundary, the values that later segments read, and
// those of `requested` that it computes. Where a later segment needs further results of a loop of
// this segment, as gradients do, the loop is recomputed there. The last segment has the outputs of
// the graph. Inputs are those of the graph; states are inputs "@NAME" and, in the last segment,
// outputs "=NAME" where it changes them. Constants are in every segment.
Graph segment(const Graph& graph, std::span<const Value> boundaries, size_t index,
              std::span<const Value> requested = {});

}  // namespace lathe::graph
