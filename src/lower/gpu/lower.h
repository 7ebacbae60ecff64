// Lowering for GPUs: loops whose iterations are independent, for threads.
#pragma once

#include "graph/graph.h"
#include "loop/loop.h"

namespace lathe::lower::gpu {

// As lower::lower.
loop::Module lower(const graph::Program& program);

}  // namespace lathe::lower::gpu
