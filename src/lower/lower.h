// Tensor graphs -> loop kernels: groups are formed, each becomes a kernel by the strategy of its
// anchor, and values get buffers. Where the buffers lie is plan_memory's business.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "loop/loop.h"
#include "lower/cpu/schedule.h"

namespace lathe::lower {

enum class Style : uint8_t {
  Lanes,    // register tiles and vector lanes, for one thread
  Threads,  // one element at a time, for passes that give the loops around it to threads
};

// The program must be verified. States of the same name become one buffer. With Style::Lanes every
// contraction gets its schedule and is added to `scheduled`; without `winograd` all are direct.
loop::Module lower(const graph::Program& program, Style style = Style::Lanes,
                   const Schedules& schedules = {},
                   std::vector<ScheduledContraction>* scheduled = nullptr, VectorUnit unit = {},
                   bool winograd = true);

}  // namespace lathe::lower
