// Lowering for processors: register tiles and vector lanes, for one thread.
#pragma once

#include <vector>

#include "lathe/graph/graph.h"
#include "lathe/loop/loop.h"
#include "lathe/lower/cpu/schedule.h"

namespace lathe::lower::cpu {

// As lower::lower. Every contraction gets its schedule and is added to `scheduled`; without
// `winograd` all are direct.
loop::Module lower(const graph::Program& program, const Schedules& schedules = {},
                   std::vector<ScheduledContraction>* scheduled = nullptr, VectorUnit unit = {},
                   bool winograd = true);

}  // namespace lathe::lower::cpu
