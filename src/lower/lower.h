// Tensor graphs -> loop kernels: groups are formed, each becomes a kernel by the strategy of its
// anchor, and values get buffers. plan_memory assigns addresses to them, and what suits a
// target is that of lower/cpu and lower/gpu.
#pragma once

#include "lathe/graph/graph.h"
#include "lathe/loop/loop.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower {

// The program must be verified. States of the same name become one buffer.
loop::Module lower(const graph::Program& program, Strategies& strategies);

}  // namespace lathe::lower
