// How lower/strategies.h is done for one thread of a processor with vectors.
#pragma once

#include <vector>

#include "lathe/lower/cpu/schedule.h"
#include "lathe/lower/strategies.h"

namespace lathe::lower::cpu {

// Where contractions get their schedules.
struct SchedulingOptions {
  const Schedules& schedules;
  std::vector<ScheduledContraction>* used;  // may be null
  VectorUnit unit;
  bool winograd;
};

// By one of the strategies for contractions, which its schedule names.
void lower_contract(Contraction& contraction, const SchedulingOptions& scheduling);
void tile_contract(Contraction& contraction, const ContractionShape& shape,
                   const Schedule& schedule);
void dot_contract(Contraction& contraction, const ContractionShape& shape,
                  const Schedule& schedule);
// Of rows by constant quantized weights; false: it is no such product, or has so many rows that
// floats are faster, and nothing is done.
bool quantized_contract(Contraction& contraction, const VectorUnit& unit);
void winograd_contract(Contraction& contraction, const ContractionShape& shape,
                       const Schedule& schedule);

// One reduction: lanes along a spatial axis where only that is contiguous, else as rows.
void lower_reduce(Nest& nest, const Group& group, RowSpace space);
// Running folds in registers along each row, lanes along the last reduced axis where that is
// contiguous.
void lower_rows(Nest& nest, const Group& group, RowSpace space);

// A running fold along the axis, with lanes along a following axis.
void lower_scan(Nest& nest, const Group& group);

// Few results: the best so far in registers. Many: radix sort by the digits of the keys.
void lower_sort(SortSpace& space);
// The best so far in registers; nearly all vectors of a row are rejected by one test.
void top_k(SortSpace& space);
// By one digit of the keys after the other, the last ones first.
void radix_sort(SortSpace& space);

}  // namespace lathe::lower::cpu
