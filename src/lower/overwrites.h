// Which buffers the values of a fusion overwrite.
#pragma once

#include "lathe/graph/graph.h"
#include "lathe/lower/fuse_groups.h"

namespace lathe::lower {

// Fills `overwrites`, and reorders the groups so that it is valid: all readers of a state precede
// its inplace update, and a value that a map overwrites has no later reader.
void choose_overwrites(const graph::Graph& graph, Fusion& fusion);

}  // namespace lathe::lower
