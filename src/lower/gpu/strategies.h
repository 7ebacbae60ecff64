// How lower/strategies.h is done for threads of a GPU.
#pragma once

#include <vector>

#include "lathe/lower/gpu/schedule.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower::gpu {

// Where contractions get their schedules.
struct SchedulingOptions {
  const Schedules& schedules;
  std::vector<ScheduledContraction>* used;  // may be null
  Device device;
};

// In tiles, or with one running sum for each element of the output.
void lower_contract(Contraction& contraction, const SchedulingOptions& scheduling);
void tile_contract(Contraction& contraction, const ContractionShape& shape,
                   const Schedule& schedule);

// One thread or one group for each row.
void lower_rows(Nest& nest, const Group& group, RowSpace space, const Device& device);

// A running fold along the axis for each row.
void lower_scan(Nest& nest, const Group& group);

// By counting what comes before each element.
void lower_sort(SortSpace& space);

}  // namespace lathe::lower::gpu
