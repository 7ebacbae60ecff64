// A graph in parts that run one after the other: what data must tell is read between them.
#pragma once

#include <span>

#include "lathe/graph/graph.h"

namespace lathe::graph {

// Part `index` of a graph that is cut behind the values `cuts`, in order: what the graph computes
// behind the cut before and up to its own, or to the end. What it reads of earlier parts are inputs
// "%ID", what it gives are outputs "%ID": the value it is cut behind, what later parts read, and
// those of `wanted` that it computes. Where a later part asks a loop for more than it gave before
// the cut, as gradients do, the loop runs there again. The last part has the outputs of the graph.
// Inputs are those of the graph; states are inputs "@NAME" and, in the last part, outputs "=NAME"
// where it changes them. Constants are in every part.
Graph segment(const Graph& graph, std::span<const Value> cuts, size_t index,
              std::span<const Value> wanted = {});

}  // namespace lathe::graph
