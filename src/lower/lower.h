// Tensor graphs -> loop kernels: groups are formed, each becomes a kernel by the strategy of its
// anchor, and values get buffers. Where the buffers lie is plan_memory's business.
#pragma once

#include "graph/graph.h"
#include "loop/loop.h"

namespace lathe::lower {

// The program must be verified. States of the same name become one buffer.
loop::Module lower(const graph::Program& program);

}  // namespace lathe::lower
