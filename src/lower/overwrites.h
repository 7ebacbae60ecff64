// Which buffers the values of a fusion are written over.
#pragma once

#include "lathe/graph/graph.h"
#include "lathe/lower/fuse_groups.h"

namespace lathe::lower {

// Fills `overwrites`, and puts the groups in an order in which it holds: states that are updated
// where they lie have been read by all others, and what maps write over has no later reader.
void choose_overwrites(const graph::Graph& graph, Fusion& fusion);

}  // namespace lathe::lower
