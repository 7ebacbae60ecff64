// Lowering for GPUs: products in tiles of threads, and loops of independent iterations for
// loop/bind_grid.
#pragma once

#include <vector>

#include "lathe/graph/graph.h"
#include "lathe/loop/loop.h"
#include "lathe/lower/gpu/schedule.h"

namespace lathe::lower::gpu {

// As lower::lower. Every contraction gets its schedule and is added to `scheduled`.
loop::Module lower(const graph::Program& program, const Device& device,
                   const Schedules& schedules = {},
                   std::vector<ScheduledContraction>* scheduled = nullptr);

}  // namespace lathe::lower::gpu
